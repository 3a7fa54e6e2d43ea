# `make demo` and `make test` work in .venv and build/, and install their packages there. `make page` compiles the core to
# WebAssembly (apt-get install emscripten) and writes a page for a browser: out/page.html. `make compilers` builds with
# every installed compiler, also for aarch64, and compares state hashes (about an hour; it lists missing packages).
# `make check` is a short `make test`: less than two minutes in a built tree. `make lint` compiles nothing. The other
# targets need `make test` first. `make docs` builds the documentation site, with executed notebooks, in out/site. `make
# site` adds the page to it, as the workflow that publishes the site does. `make races` searches for data races.
# `make campaign HOURS=2 SEED=1` fuzzes, soaks and tries random networks.
.PHONY: demo test check lint docs page site races compilers campaign
HOURS ?= 2
SEED ?= 1
# JupyterLab does not start for root without this.
AS_ROOT := $(if $(filter 0,$(shell id -u)), --allow-root)

demo:
	@python3 tests/tools/install.py package
	@rm -rf out/demo
	@.venv/bin/flitlab sweep configs/vc-torus-8x8x8.toml --over traffic.load=0.05:0.65:0.05 --out out/demo
	@printf '\n%s\n\n' "flitlab is in .venv/bin. Next, your first run, and the first notebook:"
	@echo "    .venv/bin/flitlab run vc-mesh-8x8 --set traffic.load=0.3"
	@echo "    .venv/bin/jupyter lab$(AS_ROOT) notebooks/00_quickstart.ipynb"

test:
	@python3 tests/tools/install.py tests
	@.venv/bin/python tests/tools/run_all.py

check:
	@python3 tests/tools/install.py check
	@.venv/bin/python tests/tools/run_all.py check

lint:
	@python3 tests/tools/install.py lint
	@.venv/bin/python tests/tools/run_all.py lint

.venv/bin/python:
	@echo 'make: .venv is missing; `make test` makes it.' >&2; exit 1

docs: .venv/bin/python
	@.venv/bin/python -m sphinx -q -W --keep-going -c docs/site -d build/site . out/site
	@echo out/site/docs/site/index.html

site: .venv/bin/python
	@.venv/bin/python tests/tools/website.py

races: .venv/bin/python
	@.venv/bin/python tests/tools/run_all.py races

compilers:
	@python3 tests/tools/compilers.py

campaign: .venv/bin/python
	@.venv/bin/python tests/campaign/all.py --hours $(HOURS) --seed $(SEED) --out out/campaign

page:
	@python3 bindings/page/build.py out/page.html
