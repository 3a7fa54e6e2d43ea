# Two commands: `make demo` and `make test`. Both work in .venv and build/, and install what they need there.
.PHONY: demo test

demo:
	@python3 tests/tools/venv.py package
	@rm -rf out/demo
	@.venv/bin/flitlab sweep configs/vc-torus-8x8x8.toml --over traffic.load=0.05:0.65:0.05 --out out/demo

test:
	@python3 tests/tools/venv.py tests
	@.venv/bin/python tests/tools/run_all.py
