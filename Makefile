# linebench. Cargo decides what to build, so no rule lists sources and every target is phony.

PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo
TOOLS := $(notdir $(wildcard tools/*))
BIN := target/release
DEST := $(DESTDIR)$(PREFIX)
# Most of what tests do is waiting.
export RUST_TEST_THREADS ?= $(shell echo $$((2 * $$(nproc))))

.PHONY: build demo test check test-nfs bench lint fmt doc man install uninstall clean ci snapshots

build:
	$(CARGO) build --release --locked

demo: build
	bash tests/demo $(BIN)

# On what `make install` installs; the unit tests optimised as that is, and with overflow checks and debug assertions.
test: build
	LINEBENCH_BIN='$(abspath $(BIN))' $(CARGO) test --workspace --locked
	$(CARGO) test --workspace --locked --profile optimised --lib --bins

# One tool in seconds, while it is written: `make check TOOL=diskread`.
check:
	@[ -n '$(TOOL)' ] && [ -d 'tools/$(TOOL)' ] || { echo 'usage: make check TOOL=NAME, one of $(TOOLS)' >&2; exit 2; }
	$(CARGO) fmt --all --check
	$(CARGO) clippy --package '$(TOOL)' --all-targets --locked -- -D warnings
	$(CARGO) test --package '$(TOOL)' --locked

# On a real NFS mount, in a virtual machine: needs qemu-system-x86, and apt for the rest of it.
test-nfs: build
	bash tests/lab/nfs tests/lab/scenario $(BIN)

bench: build
	$(CARGO) run --release --locked --quiet --package linebench-common --example engine
	bash tests/peers/tcp $(BIN)
	bash tests/peers/udp $(BIN)
	bash tests/peers/disk $(BIN)
	bash tests/peers/mount $(BIN)
	bash tests/peers/iface $(BIN)
	bash tests/peers/stat $(BIN)

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --document-private-items --locked --quiet
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run tests/demo tests/snapshots/record \
		tests/pictures/measure tests/pictures/record tests/peers/* tests/fixtures/runstat/*.sh \
		tests/lab/nfs tests/lab/image tests/lab/scenario tests/lab/checks tests/lab/guest/* tests/lab/scenarios/*; \
	else echo 'skipped: shellcheck is not installed (apt-get install shellcheck)'; fi
	@if command -v cargo-deny >/dev/null; then $(CARGO) deny check licenses bans sources; \
	else echo 'skipped: cargo-deny is not installed (cargo install cargo-deny)'; fi

fmt:
	$(CARGO) fmt --all

doc:
	$(CARGO) doc --workspace --no-deps --locked

man: build
	@mkdir -p target/man
	for tool in $(TOOLS); do $(BIN)/$$tool --generate man >target/man/$$tool.1 || exit 1; done

install: man
	install -d '$(DEST)/bin' '$(DEST)/share/man/man1' '$(DEST)/share/bash-completion/completions' \
		'$(DEST)/share/zsh/site-functions' '$(DEST)/share/fish/vendor_completions.d'
	for tool in $(TOOLS); do \
		install -m 755 $(BIN)/$$tool '$(DEST)/bin/' && \
		install -m 644 target/man/$$tool.1 '$(DEST)/share/man/man1/' && \
		$(BIN)/$$tool --generate bash >'$(DEST)/share/bash-completion/completions/'$$tool && \
		$(BIN)/$$tool --generate zsh >'$(DEST)/share/zsh/site-functions/_'$$tool && \
		$(BIN)/$$tool --generate fish >'$(DEST)/share/fish/vendor_completions.d/'$$tool.fish || exit 1; \
	done

uninstall:
	for tool in $(TOOLS); do \
		rm -f '$(DEST)/bin/'$$tool '$(DEST)/share/man/man1/'$$tool.1 \
			'$(DEST)/share/bash-completion/completions/'$$tool '$(DEST)/share/zsh/site-functions/_'$$tool \
			'$(DEST)/share/fish/vendor_completions.d/'$$tool.fish; \
	done

clean:
	$(CARGO) clean

# Records help texts, columns and screens, and draws the pictures of the README, anew after they were changed on purpose.
snapshots: build
	for tool in $(TOOLS); do bash tests/snapshots/record $(BIN)/$$tool || exit 1; done
	rm -f tests/snapshots/screens/*.txt
	LINEBENCH_BIN='$(abspath $(BIN))' LINEBENCH_RECORD=1 $(CARGO) test --workspace --locked screens
	bash tests/pictures/record $(BIN)/runplot

ci: lint test demo
