# Needs Python 3.11+, make and the package index. Everything is installed into .venv, with uv when it is present.
PYTHON ?= python3
BIN := .venv/bin
SHELL := /bin/bash
FUZZ_SECONDS ?= 600

PROVING_BLOCKS ?= 264
PROVING_KIN ?= 10
CORPORA ?= $(wildcard evals/corpus/*)

.PHONY: left-out going-on proving-ground demo test check fix eval corpus train bench judges fuzz load linear callbacks words remote bundle picture clean

# Judges the bundled real run and writes its report.
demo: .venv/.core
	@echo "demo: judging the real run examples/grpo-run, and writing its page" >&2
	@$(BIN)/rl-advisor assess examples/grpo-run --out examples/grpo-run-report.html

test: .venv/.dev .venv-plain/.made
	$(BIN)/python -m pytest -n auto --dist loadfile

check: .venv/.dev .venv-plain/.made
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist loadfile --durations 12 --durations-min 2

# Formats, and makes again what is made from the code: the skill's pages, the page of the rooms, the README's counts and example.
fix: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tests/test_skill.py
	$(BIN)/python tests/test_rooms.py
	$(BIN)/python tests/test_readme.py

# The built-in advisor and every baseline arm on the corpora of the repository; fills docs/dev/accuracy.md, docs/dev/agreement.md and the README.
eval: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m evals.lab evals/corpus/{grpo,classic,unseen,second} --results evals/results --write docs/dev/accuracy.md \
	  --readme README.md --readings evals/readings --agreement docs/dev/agreement.md

# Makes the classic-control and the small GRPO runs of the corpora again, on a CPU (GRPO larger where a GPU is found); in an environment
# of its own, because it brings PyTorch.
corpus:
	@test -d .venv-corpus || $(PYTHON) -m venv .venv-corpus
	.venv-corpus/bin/python -m pip install --quiet -r evals/generate/requirements.txt
	@for set in classic unseen second; do .venv-corpus/bin/python evals/generate/sb3_runs.py evals/corpus/$$set || exit 1; done
	@for set in unseen second; do .venv-corpus/bin/python evals/generate/grpo_runs.py evals/corpus/$$set --size small || exit 1; done

# Fits the weights of the verdict and of going on and what is usual to the labelled corpora and to the table of strangers' runs (evals/world), and says
# how they do on repositories and tasks left out.
train: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.fit_weights $(CORPORA) --write
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.fit_going_on $(CORPORA) --write
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.world.bank $(CORPORA) --write

# The table of what is left out alone: nothing is written.
left-out: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.fit_weights $(CORPORA)
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.fit_going_on $(CORPORA)

# What going on brought in the table's runs, what rules for stopping cost, and the head of the page of accuracy.
going-on: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.world.halves
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.world.second_half $(CORPORA) --write
	$(BIN)/python -m evals.lab --write docs/dev/accuracy.md --readme README.md

# Ten thousand small trainings with known faults (hours on two cores; goes on where it stopped), what the judge says of a thousand held out, what sound
# kin add, and the pages.
proving-ground: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.proving_ground.make build/proving-ground --blocks $(PROVING_BLOCKS)
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.proving_ground.judge build/proving-ground --runs 1000
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.proving_ground.make build/proving-kin --kin --seed 8 --blocks $(PROVING_KIN)
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m evals.proving_ground.against build/proving-kin
	$(BIN)/python -m evals.proving_ground.pages build/proving-ground --kin build/proving-kin --write docs/dev/proving-ground.md \
	  --section evals/results/proving-ground.md --diagram docs/dev/reliability.svg
	$(BIN)/python -m evals.lab --write docs/dev/accuracy.md

bench: .venv/.dev
	@for script in benchmarks/{tensorboard,jsonl,rollouts,telemetry,doors}.py; do echo "== $$script"; $(BIN)/python $$script; done

# How the cost of reading grows with size for every format, what another look at a growing file costs, and answers about what is no run.
linear: .venv/.dev
	$(BIN)/python benchmarks/linearity.py
	$(BIN)/python benchmarks/plain_answers.py

# Installs into an environment: $(call install,ENVIRONMENT,WHAT), with uv where it is present.
install = test -d $(1) || $(PYTHON) -m venv $(1); \
	if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(1)/bin/python $(2) -c requirements.lock; \
	else $(1)/bin/python -m pip install --quiet --upgrade 'pip>=25.1' && $(1)/bin/python -m pip install --quiet $(2) -c requirements.lock; fi

# The package alone, which is all that the demo needs.
.venv/.core: pyproject.toml requirements.lock
	@echo "installing rl-advisor and the libraries it needs, no extras, into .venv: about 100 MB to fetch, 330 to 400 MB on disk" >&2
	@$(call install,.venv,-e .)
	@touch $@

.venv/.dev: .venv/.core
	@echo "installing what the tests need into .venv: about 1 GB on disk" >&2
	@$(call install,.venv,--group dev)
	@touch $@

# The libraries of a plain install and nothing else: the tests put the wheel beside them, as a user without extras has it.
.venv-plain/.made: pyproject.toml requirements.lock
	@test -d .venv-plain || $(PYTHON) -m venv .venv-plain
	@.venv-plain/bin/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > .venv-plain/needed.txt
	@$(call install,.venv-plain,-r .venv-plain/needed.txt)
	@touch $@

# Outside judges of the server and its packages, installed from the package indices.
judges: .venv/.dev
	$(BIN)/python benchmarks/judges.py

# The callbacks inside real trainers, on a CPU; in an environment of its own, because it brings PyTorch.
callbacks:
	@test -d .venv-callbacks || $(PYTHON) -m venv .venv-callbacks
	.venv-callbacks/bin/python -m pip install --quiet -e . -r benchmarks/callbacks-requirements.txt
	HF_HUB_OFFLINE=1 .venv-callbacks/bin/python benchmarks/callbacks.py

# Whether every number of the reports rests on a measure, how long they take, and whether planted errors are found.
words: .venv/.core
	$(BIN)/python benchmarks/reports.py
	$(BIN)/python benchmarks/planted.py

# Damaged files and senseless arguments for FUZZ_SECONDS with each library; prints counts and seeds, and leaves findings in the folder KEEP.
fuzz: .venv/.dev
	$(BIN)/python benchmarks/fuzz.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python benchmarks/fuzz_atheris.py --seconds $(FUZZ_SECONDS)

# Fetches from true stores: an MLflow server, an emulator of Google's storage.
remote: .venv/.dev
	@test -d .venv-remote || $(PYTHON) -m venv .venv-remote
	.venv-remote/bin/python -m pip install --quiet mlflow gcp-storage-emulator
	$(BIN)/python -m pip install --quiet "gcsfs>=2025.2" -c requirements.lock
	$(BIN)/python benchmarks/remote.py

# The desktop bundle, ready to be opened by its client.
bundle: .venv/.core
	$(BIN)/python packaging/bundle.py rl-advisor.mcpb

# The first screen of the demo's page for the README; needs a Chromium.
picture: .venv/.dev
	$(BIN)/python benchmarks/page_picture.py

load: .venv/.core
	$(BIN)/python benchmarks/load.py

clean:
	rm -rf .venv .venv-plain .venv-callbacks .mypy_cache .ruff_cache .pytest_cache examples/*-report.*
