# SPDX-License-Identifier: MIT
# A thin door to meson. MESON_OPTIONS goes to `meson setup`, e.g. MESON_OPTIONS=-Dhardened=true;
# TEST_OPTIONS to `meson test`, e.g. TEST_OPTIONS='--suite exact'.
BUILD ?= build
MESON_OPTIONS ?=
TEST_OPTIONS ?=

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD) $(MESON_OPTIONS)

deps:
	tools/install-packages

run: deps
	$(MAKE) all
	$(BUILD)/umemcg bench --seeds --json $(BUILD)/seeds.json
	@echo 'The same as another table: $(BUILD)/umemcg compare --format mmtests $(BUILD)/seeds.json'

test: deps
	$(MAKE) all
	tests/run-tests $(BUILD) $(TEST_OPTIONS)

bench: deps
	$(MAKE) all
	bench/budgets/budgets.py $(BUILD)

demo-postgres: deps
	$(MAKE) all
	examples/demo-postgres --build $(BUILD) $(DEMO_OPTIONS)

bench-preload: deps
	$(MAKE) all
	bench/preload/preload.py --build $(BUILD) $(BENCH_OPTIONS)

install: all
	meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD)

.PHONY: all deps run test bench bench-preload demo-postgres install clean
