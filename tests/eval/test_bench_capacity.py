"""``tooldecoding bench capacity``: laws of the costs and of the prefix cache, and plans from small recorded runs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoConfig, AutoModelForCausalLM

from command_line import Ran, assert_bad
from eval.bench.shapes import SHAPES
from eval.capacity.cost import Assumptions, Demand, Machine
from eval.capacity.gpus import GPUS, Gpu
from eval.capacity.replay import replay
from eval.capacity.sizes import SIZES, ModelSize
from eval.capacity.streams import STREAMS, stream
from eval.capacity.trace import Call, Trace
from eval.capacity.workload import Workload, read_workload
from eval.commands.bench_capacity import BENCH_CAPACITY, ShapeName
from eval.report.run_list import read_runs
from eval_data import write_sgd

Cli = Callable[..., Ran]
NOTHING = Assumptions(
    max_batch=1000, compute_share=1, bandwidth_share=1, memory_share=1, layer_us=0, pass_us=0, call_us=0, token_us=0
)
USUAL = replace(
    NOTHING, max_batch=32, compute_share=0.4, bandwidth_share=0.7, memory_share=0.9, layer_us=300, pass_us=500,
    call_us=9000, token_us=100,
)  # fmt: skip
GIB = 1 << 30
calls = st.builds(
    Call,
    prompt=st.integers(16, 4000).map(float),
    passes=st.integers(1, 200).map(float),
    positions=st.integers(0, 2000).map(float),
    written=st.integers(0, 2000).map(float),
)
machines = st.builds(
    Machine, st.sampled_from(list(SIZES.values())), st.sampled_from(list(GPUS.values())), st.just(USUAL)
)


def trace(*of: Call) -> Trace:
    return Trace("made up", of)


def test_the_options_name_all_models_that_there_are() -> None:
    assert get_args(ShapeName) == tuple(SIZES)
    assert {option.name for option in BENCH_CAPACITY.options} >= vars(NOTHING).keys() - {
        "compute_share", "bandwidth_share", "memory_share",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["llama-1b", "llama-7b", "mistral-7b"])
def test_sizes_are_those_of_the_models(name: str) -> None:
    shape = SHAPES[name]
    config = AutoConfig.for_model(shape.architecture, vocab_size=shape.vocabulary, **shape.fields)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    size = SIZES[name]
    assert size.parameters == sum(p.numel() for p in model.parameters())
    assert size.weight_bytes == 2 * size.parameters
    with torch.device("meta"):
        states = model(torch.zeros(1, 5, dtype=torch.int64), use_cache=True).past_key_values
    assert 5 * size.slot_bytes == sum(layer.keys.nbytes + layer.values.nbytes for layer in states.layers)


def test_units() -> None:
    """10**9 parameters in 16 bits, read at 1,000 gigabytes a second: 2 ms a pass; computed at 1 teraflop: 2 ms each."""
    size = ModelSize(layers=0, heads_width=0, states_width=0, matrices=10**9, embedding=0, tied=False)
    call = Call(prompt=100, passes=10, positions=0, written=7)
    reading = Machine(size, Gpu(1000, 1000, 1e9), NOTHING).at(trace(call), 1)
    assert (reading.passes, reading.bound) == (pytest.approx(0.02), "memory")
    computing = Machine(size, Gpu(1000, 1e9, 1), NOTHING).at(trace(call), 1)
    assert computing.prompt == pytest.approx(0.2)
    host = Machine(size, Gpu(1000, 1e9, 1e9), replace(NOTHING, call_us=5, token_us=2)).at(trace(call), 1)
    assert host.host == pytest.approx(19e-6)
    launched = Machine(replace(size, layers=4), Gpu(1000, 1e9, 1e9), replace(NOTHING, layer_us=100, pass_us=50))
    assert launched.at(trace(call), 1).passes == pytest.approx(10 * 450e-6)
    assert launched.at(trace(call), 5).seconds == pytest.approx(10 * 450e-6 / 5)


@given(machines, calls)
def test_a_better_gpu_is_never_slower(machine: Machine, call: Call) -> None:
    for what in ("gigabytes", "bandwidth", "teraflops"):
        better = replace(machine, gpu=replace(machine.gpu, **{what: 2 * getattr(machine.gpu, what)}))
        before, after = machine.cost(trace(call)), better.cost(trace(call))
        if before is not None:
            assert after is not None and after.seconds <= before.seconds * (1 + 1e-9)


@given(machines, calls, st.sampled_from(["prompt", "passes", "positions", "written"]), st.integers(1, 500))
def test_more_work_is_never_cheaper(machine: Machine, call: Call, what: str, more: int) -> None:
    harder = replace(call, **{what: getattr(call, what) + more})
    before, after = machine.cost(trace(call)), machine.cost(trace(harder))
    if after is not None:
        assert before is not None and before.seconds <= after.seconds * (1 + 1e-9)


@given(machines, calls)
def test_parts_add_up_and_a_batch_shares_time(machine: Machine, call: Call) -> None:
    cost = machine.cost(trace(call))
    if cost is not None:
        assert cost.rate * cost.seconds == pytest.approx(1)
        assert cost.latency == pytest.approx(cost.batch / cost.rate)
        assert cost.seconds <= machine.at(trace(call), 1).seconds * (1 + 1e-9)
        assert machine.batch(trace(call)) == cost.batch <= USUAL.max_batch


@given(machines, calls, st.floats(0, 1), st.integers(0, 80))
def test_a_prefix_cache_pays_from_the_share_that_is_named(
    machine: Machine, call: Call, share: float, gigabytes: int
) -> None:
    size = gigabytes * GIB
    assert machine.batch(trace(call), size) <= machine.batch(trace(call))
    worth, gain = machine.worth(trace(call), size), machine.gain(trace(call), size, share)
    if gain is not None and worth is not None and abs(share - worth) > 1e-6:
        assert (gain >= 1 - 1e-9) == (share > worth) or gain == pytest.approx(1)
    if gain is not None and worth is None:
        assert gain < 1


def test_a_model_that_does_not_fit_has_no_cost() -> None:
    machine = Machine(SIZES["llama-70b-4bit"], GPUS["l4"], USUAL)
    assert machine.cost(trace(Call(10, 10, 10, 10))) is None
    assert machine.gain(trace(Call(10, 10, 10, 10)), 0, 0.5) is None


@given(machines, calls, st.integers(1, 10**8))
def test_gpus_bear_the_busiest_hour(machine: Machine, call: Call, calls_per_day: int) -> None:
    cost = machine.cost(trace(call))
    demand = Demand(calls_per_day=calls_per_day, peak=2.0, load=0.7)
    if cost is not None:
        most = 0.7 * cost.rate
        assert (demand.gpus(cost) - 1) * most < demand.busiest * (1 + 1e-9)
        assert demand.busiest <= demand.gpus(cost) * most * (1 + 1e-9)


def test_prompts_that_differ_from_the_first_token_reuse_nothing() -> None:
    prompts = [[number, *range(100)] for number in range(20)]
    found = replay(prompts, SIZES["llama-1b"], 80 * GIB)
    assert (found.reused, found.hits, found.held, found.positions) == (0, 0, 20, 20 * 101)


def test_the_same_prompt_again_computes_one_token() -> None:
    found = replay([list(range(100))] * 5, SIZES["llama-1b"], 80 * GIB)
    assert (found.reused, found.hits, found.held) == (4 * 99, 4, 1)


prompts = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=60), min_size=1, max_size=12)


@given(prompts, st.integers(0, 64))
def test_a_cache_never_costs_positions(prompts: Sequence[list[int]], places: int) -> None:
    size = SIZES["llama-1b"]
    found = replay(prompts, size, places * 16 * size.slot_bytes)
    assert 0 <= found.reused < found.positions
    assert found.held * 16 <= places * 16
    assert replay(prompts, size, 0).reused == 0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, tiny_model_path: str, cli: Cli) -> Path:
    """A folder with the data and runs with 1 and 4 orders, and greedy."""
    folder = tmp_path_factory.mktemp("recorded")
    data = write_sgd(folder / "data")
    for name, options in {
        "1": ("--order-limit", 1),
        "4": ("--order-limit", 4),
        "greedy": ("--method", "greedy"),
    }.items():
        more = ("--model", tiny_model_path, "--device", "cpu", "--max-value-tokens", 6, "--max-text-tokens", 6)
        ran = cli("eval", "sgd", "--data", data, "--tool-choice", "required", *more, *options, "--out", folder / name)
        assert ran.code == 0, ran.err
    return folder


@pytest.fixture
def command(recorded: Path) -> tuple[Any, ...]:
    return ("bench", "capacity", recorded / "1", recorded / "4", "--data", recorded / "data")


def figures(ran: Ran) -> Any:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_a_plan_from_recorded_runs(cli: Cli, command: tuple[Any, ...]) -> None:
    found = figures(cli(*command, "--json"))
    one, four = found["traces"]
    assert found["token_factor"] == 1
    assert (
        one["prompt"] == four["prompt"] and one["positions"] <= four["positions"] and one["written"] <= four["written"]
    )
    costs = {(c["gpu"], c["model"], c["run"]): c for c in found["calls"]}
    assert len(costs) == 2 * 3 * 2
    for (gpu, model, _), cost in costs.items():
        assert cost["fits"] == ((gpu, model) != ("l4", "llama-70b-4bit"))
    assert len(found["prefix_cache"]["streams"]) == len(STREAMS) * 3 * 3
    assert found == figures(cli(*command, "--json"))


def test_another_tokenizer_changes_tokens_and_says_so(
    cli: Cli, command: tuple[Any, ...], make_tiny: Callable[[str], str]
) -> None:
    own = figures(cli(*command, "--json"))
    other = figures(cli(*command, "--json", "--tokenizer", "reference"))
    factor = other["token_factor"]
    assert factor != 1
    for mine, theirs in zip(own["traces"], other["traces"], strict=True):
        assert theirs["prompt"] != mine["prompt"]
        assert theirs["positions"] == pytest.approx(mine["positions"] * factor)
        assert theirs["passes"] == pytest.approx(1 + (mine["passes"] - 1) * factor)
    ran = cli(*command, "--tokenizer", "reference")
    assert f"multiplied by {factor:.3f}" in " ".join(ran.out.split())


def test_tables_name_what_is_assumed(cli: Cli, command: tuple[Any, ...]) -> None:
    ran = cli(*command, "--gpu", "a100", "--shape", "llama-7b", "--calls-per-day", 5000, "--cache-mb", 3, "--peak", 3.5)
    assert ran.code == 0, ran.err
    text = " ".join(ran.out.split())
    for part in (
        "What calls took",
        "A call on a100",
        "A prefix cache on a100",
        "llama-7b",
        "5,000",
        "3.5 times",
        "3 MiB",
    ):
        assert part in text
    assert "Predicted" not in text


def test_the_check_decodes_again(cli: Cli, command: tuple[Any, ...]) -> None:
    found = figures(cli(*command, "--check", 4, "--json"))["check"]
    assert [run["calls"] for run in found["runs"]] == [2, 2]
    assert all(run["measured"] > 0 and run["predicted"] > 0 for run in found["runs"])
    assert found["host"]["layer_us"] > 0 and found["pass_seconds"]["fixed"] >= 0
    assert "Predicted and measured" in cli(*command, "--check", 4).out


@pytest.fixture(scope="module")
def workload(recorded: Path) -> Workload:
    return read_workload(read_runs([recorded / "1"]), str(recorded / "data"), None)


def test_streams_hold_each_dialogue_once(workload: Workload) -> None:
    own = sorted(map(workload.prompt_ids, workload.every))
    assert sorted(stream(workload, "as recorded", 100, 1.0, 0)) == own
    for name in STREAMS:
        made = list(stream(workload, name, 100, 1.0, 3))
        assert made == list(stream(workload, name, 100, 1.0, 3))
        assert len({tuple(prompt) for prompt in made}) == len(made) <= len(own)
        assert list(stream(workload, name, 2, 1.0, 3)) == made[:2] or name in ("zipf",)


def test_streams_have_the_documentation_that_they_say(workload: Workload) -> None:
    decode = workload.planned.tokenizer.decode
    same = [decode(prompt) for prompt in stream(workload, "same tools", 100, 1.0, 0)]
    assert len(same) == 4 and sum("SetLamp" in text for text in same) in (0, 4)
    different = [decode(prompt) for prompt in stream(workload, "all different", 100, 1.0, 0)]
    assert sorted("SetLamp" in text for text in different) == [False, True]


@pytest.mark.parametrize(
    ("runs", "more", "said"),
    [
        (["1", "nowhere"], (), "expected the folder of a run"),
        (["1", "1"], (), "the same run as"),
        (["1", "other"], (), "differ in their method or orders only"),
        (["1"], ("--gpu", "h1000"), "--gpu"),
        (["1"], ("--gpu", ""), "--gpu"),
        (["1"], ("--shape", "gpt"), "--shape"),
        (["1"], ("--load", 0), "--load: expected a number above 0, 1 at most"),
        (["1"], ("--load", 1.5), "--load: expected a number above 0, 1 at most"),
        (["1"], ("--peak", 0.5), "--peak"),
        (["1"], ("--cache-mb", "1,x"), "--cache-mb"),
        (["1"], ("--data", "nowhere"), "nowhere"),
        (["1"], ("--tokenizer", "no/where/at/all"), "no/where/at/all"),
        (["1", "greedy"], ("--check", 4), "--check needs runs of the method tool-decoding"),
        (["1"], ("--check", 2), "expected 4 or more samples"),
    ],
)
def test_bad_input_is_one_clear_line(
    cli: Cli, recorded: Path, runs: Sequence[str], more: tuple[Any, ...], said: str
) -> None:
    other = recorded / "other"
    if not other.exists():
        other.mkdir()
        for file in ("run.json", "predictions.jsonl", "scores.jsonl"):
            text = (recorded / "4" / file).read_text()
            (other / file).write_text(text.replace('"prompts": "', '"prompts": "0'))
    data = () if "--data" in more else ("--data", recorded / "data")
    assert_bad(cli("bench", "capacity", *(recorded / run for run in runs), *data, *more), said)


def test_changed_data_is_found(cli: Cli, recorded: Path, tmp_path: Path) -> None:
    data = write_sgd(tmp_path / "data")
    tools = json.loads((data / "dev_tools.json").read_text())
    tools[0]["description"] += " again"
    (data / "dev_tools.json").write_text(json.dumps(tools))
    assert_bad(cli("bench", "capacity", recorded / "1", "--data", data), "does not give the prompts of this run")
