# `make demo` and `make test` work in .venv and build/, and install what they need there. `make campaign` needs `make test`
# first, and fuzzes, soaks and tries random networks for some hours: make campaign HOURS=2 SEED=1
.PHONY: demo test campaign
HOURS ?= 2
SEED ?= 1

demo:
	@python3 tests/tools/venv.py package
	@rm -rf out/demo
	@.venv/bin/flitlab sweep configs/vc-torus-8x8x8.toml --over traffic.load=0.05:0.65:0.05 --out out/demo

test:
	@python3 tests/tools/venv.py tests
	@.venv/bin/python tests/tools/run_all.py

campaign:
	@.venv/bin/python tests/campaign/all.py --hours $(HOURS) --seed $(SEED) --out out/campaign
