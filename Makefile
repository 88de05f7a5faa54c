# The menu. Each goal installs what it needs (saying what), builds and runs; all work offline once the
# packages are there. The build itself is Meson: see meson.build.
BUILD := build
MESON_FLAGS ?=
export MESON_FLAGS

.PHONY: all run check test bench bench-clients bench-engine bench-gateway bench-nano bench-privacy bench-quant bench-router bench-together router-model lint format hooks fuzz install deb dist clean packages help

all: packages ## build build/tandem
	@python3 tools/trees.py build product
	@python3 tools/library_size.py

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

packages: ## install missing Debian packages for building
	@tools/install_packages.sh build

run: all ## build and serve the embedded model on 127.0.0.1:8080
	@exec $(BUILD)/tandem serve

check: packages ## after each edit: build, changed files, quick tests (at most 90 seconds)
	@tools/install_packages.sh test
	@python3 tools/trees.py build product
	@python3 tools/lint.py --changed
	@python3 tools/run_tests.py --quick

test: all ## every test: unit, sanitizers, fuzz regressions, end to end, official clients
	@tools/install_packages.sh build test
	@python3 tools/run_tests.py

bench: all ## the figures that the README claims
	@python3 bench/run.py

bench-clients: all ## what each client of the APIs can do, on each tier (fetches 1.2 GB; CLIENTS=word,word)
	@python3 bench/run.py clients

bench-nano: all ## what the default model can do, beside published figures (BENCH_QUICK=1, BENCH_NANO=FILE)
	@python3 bench/run.py nano

bench-engine: all ## the engine beside llama.cpp, ik_llama.cpp and llama-server (LLAMA_BIN, IK_BIN; BENCH_QUICK=1)
	@python3 bench/run.py engine streams

bench-quant: all ## what quantising costs, beside llama.cpp's quantiser (LLAMA_BIN, QUANT_MODEL, QUANT_TEXT)
	@python3 bench/run.py quant

bench-gateway: all ## what the gateway costs beside nginx: added time, CPU, memory, streams (BENCH_QUICK=1)
	@python3 bench/run.py gateway

bench-together: all ## answers that a cloud checks while they are shown, races, and hot phones (BENCH_QUICK=1)
	@python3 bench/run.py together device

bench-router: all ## the router beside RouteLLM's, nine small models, a mixed workload, an attacker, decision time
	@python3 bench/run.py router

router-model: all ## let the default model answer prompts, and train the default classifier on how it did
	@python3 models/router/make_data.py > $(BUILD)/router.prompts.jsonl
	@python3 models/router/measure.py $(BUILD)/router.prompts.jsonl > $(BUILD)/router.jsonl
	@$(BUILD)/tandem router train $(BUILD)/router.jsonl -o models/router/default.tdr --seed 1

bench-privacy: all ## what is found of private data: synth_dataset_v2, WNUT17 test, PUPA; how fast; pseudonyms; the egress ledger changed; bad input; the wire tap (TAP_CONVERSATIONS=10000: some ten minutes)
	@python3 bench/bench_privacy.py
	@python3 bench/run.py privacy pseudonyms egress
	@echo && echo "== Streams before other dialects, cut at every place =="
	@python3 tests/e2e/test_dialects.py cut_at_every_place
	@echo && echo "== Bad input =="
	@python3 tests/e2e/test_scan.py takes_any_bytes broken_vaults
	@python3 tests/e2e/test_privacy.py runs_away
	@python3 tests/e2e/test_pseudonyms.py encrypted
	@echo && echo "== The wire tap =="
	@TAP_CONVERSATIONS=$${TAP_CONVERSATIONS:-500} python3 tests/e2e/test_wire_tap.py

lint: all ## format, columns, Python and its types, include levels, headers, symbols
	@tools/install_packages.sh build test
	@python3 tools/lint.py --longest

format: ## format every C and Python file
	@tools/install_packages.sh build test
	@python3 tools/lint.py --format

hooks: ## check the files of each commit before it is made (tools/pre-commit)
	@ln -sf "$(CURDIR)/tools/pre-commit" "$$(git rev-parse --git-path hooks)/pre-commit"

fuzz: all ## run every fuzz target for FUZZ_SECONDS (default 60) each
	@tools/install_packages.sh build test
	@python3 tools/run_fuzz.py --seconds $(or $(FUZZ_SECONDS),60)

install: all ## install under PREFIX (default /usr/local)
	@meson configure $(BUILD) -Dprefix=$(abspath $(or $(PREFIX),/usr/local))
	@ninja -C $(BUILD) --quiet build.ninja >/dev/null # the list of what goes where is made anew with it
	@ninja -C $(BUILD) --quiet packaging/man1 >/dev/null
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(DESTDIR)) --quiet

deb: all ## make the Debian package, build/packages/tandem_VERSION_ARCHITECTURE.deb
	@tools/install_packages.sh build package
	@mkdir -p $(BUILD)/packages
	@python3 tools/make_deb.py $(BUILD)/packages

dist: all ## make a release: sources, SBOM, hashes; DIST_KEY=KEY.pem signs, DIST_URL=... adds a formula
	@tools/install_packages.sh build test
	@python3 tools/make_dist.py $(BUILD)/release

clean: ## remove what was built
	@rm -rf build build-*
