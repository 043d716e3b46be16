//! Orders and parts of a range: a shuffle that takes no memory, and shares without a remainder lost.

/// Where part `index` of `parts` begins when `whole` is shared out, and how large it is; the first ones take what
/// cannot be divided.
pub fn share(whole: u64, parts: u64, index: u64) -> (u64, u64) {
    let (each, rest) = (whole / parts, whole % parts);
    (index * each + index.min(rest), each + u64::from(index < rest))
}

/// A random order of `0..count` that takes no memory: a Feistel network, walked until it lands inside (Black and
/// Rogaway, Ciphers with Arbitrary Finite Domains, 2002).
#[derive(Debug, Clone)]
pub struct Shuffle {
    count: u64,
    half_bits: u32,
    seed: u64,
}

/// Rounds of the network; four look random.
const ROUNDS: u64 = 4;

impl Shuffle {
    /// The order that `seed` gives to `0..count`.
    pub fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Self { count, half_bits: bits.div_ceil(2).max(1), seed }
    }

    /// What stands at `index` (below `count`) in the order of `round`.
    pub fn at(&self, index: u64, round: u64) -> u64 {
        let key = mix(self.seed ^ mix(round));
        let mut value = self.step(index, key);
        while value >= self.count {
            value = self.step(value, key);
        }
        value
    }

    /// A permutation of the numbers below `2^(2 * half_bits)`.
    fn step(&self, value: u64, key: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (mix(right ^ key.wrapping_add(round)) & mask));
        }
        left << self.half_bits | right
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014): one-to-one, and its results look random.
pub fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_once_in_every_round() {
        for count in [1, 2, 3, 10, 1000] {
            let shuffle = Shuffle::new(count, 7);
            for round in [0, 1] {
                let mut order: Vec<_> = (0..count).map(|index| shuffle.at(index, round)).collect();
                order.sort_unstable();
                assert!(order.into_iter().eq(0..count), "{count}");
            }
        }
    }

    #[test]
    fn shares_add_up() {
        let shares: Vec<_> = (0..4).map(|index| share(10, 4, index)).collect();
        assert_eq!(shares, [(0, 3), (3, 3), (6, 2), (8, 2)]);
    }
}
