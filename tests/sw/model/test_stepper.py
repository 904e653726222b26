"""Runs by single instructions: the same as a whole run, forth and back."""

import numpy as np

from celosia.arch.config import preset
from celosia.arch.faults import Fault
from celosia.model import Machine
from celosia.model.stepper import Stepper
from celosia.program.asm import assemble

LOOP = """
.chip nano
        mov r1, 5
loop r1, done
        add r2, r2, 3
        vector mov, acc[r2], scalar[0x1234], n0=2
done:
        read r3, acc[3]
        halt
"""


def machine(text):
    program = assemble(text)
    made = Machine(preset("nano"))
    made.memory.write(0, program.code(0))
    return made, program


def state(stepper):
    run = stepper.run
    return (stepper.executed, run.pc, list(run.registers), [list(each) for each in run.loops],
            run.clock.now, stepper.machine.acc.copy(), stepper.ended)


def same(one, other):
    return one[:5] == other[:5] and bool((one[5] == other[5]).all()) and one[6] == other[6]


def test_steps_are_the_run():
    whole, program = machine(LOOP)
    result = whole.run(0, len(program.insns))
    stepped, _ = machine(LOOP)
    stepper = Stepper(stepped, 0, len(program.insns))
    count = 0
    while stepper.step():
        count += 1
    assert stepper.ended == result
    assert count + 1 == stepper.executed == result.instructions
    assert (stepped.acc == whole.acc).all()
    assert not stepper.step()
    assert stepper.finish() == result


def test_back_is_where_it_was():
    made, program = machine(LOOP)
    stepper = Stepper(made, 0, len(program.insns))
    seen = [state(stepper)]
    while stepper.step():
        seen.append(state(stepper))
    seen.append(state(stepper))
    for count in np.random.default_rng(3).permutation(len(seen)):
        stepper.back(len(seen) - 1 - int(count))
        assert same(state(stepper), seen[count]), count
        stepper.finish()
    stepper.back(10_000)
    assert same(state(stepper), seen[0])
    assert not made.acc.any()


def test_a_store_is_undone():
    made, program = machine("""
.chip nano
        vector mov, acc[0], scalar[7], n0=1
        store acc[0], 0x1000, fmt=w32, rows=1, cols=1
        halt
""")
    stepper = Stepper(made, 0, len(program.insns), [(0x1000, 0x1fff)])
    stepper.finish()
    assert made.memory.read(0x1000, 4).view(np.uint32) == [7]
    stepper.back(2)
    assert not made.memory.read(0x1000, 4).any()
    assert stepper.pc == 1
    assert stepper.command is not None


def test_a_fault_ends_it():
    made, program = machine(LOOP.replace("add r2, r2, 3", "add r2, r2, 500"))
    stepper = Stepper(made, 0, len(program.insns))
    result = stepper.finish()
    assert (result.cause, result.pc, result.instructions) == (Fault.ACC_RANGE, 3, stepper.executed)
    assert stepper.passed[-1] == 2
    stepper.back()
    assert stepper.ended is None
    assert stepper.pc == 2


def test_the_last_32_instructions_are_remembered():
    made, program = machine(LOOP.replace("mov r1, 5", "mov r1, 20"))
    stepper = Stepper(made, 0, len(program.insns))
    order = [0, 1, *[2, 3] * 20, 4, 5]
    for count in range(1, len(order)):
        assert stepper.step()
        assert list(stepper.passed) == order[:count][-32:]
        assert (stepper.executed, stepper.pc) == (count, order[count])
    assert not stepper.step()
    assert list(stepper.passed) == order[-32:]
    stepper.back(len(order) - 1)
    assert list(stepper.passed) == [0]
    stepper.back()
    assert (list(stepper.passed), stepper.command, stepper.program) == ([], None, 0)


def test_who_watches_the_chip_watches_it_again_behind_a_step():
    made, program = machine(LOOP.replace("add r2, r2, 3", "add r2, r2, 500"))
    made.observer = watcher = [].append
    stepper = Stepper(made, 0, len(program.insns))
    while stepper.step():
        assert made.observer is watcher
        assert (stepper.command is not None) == (stepper.passed[-1] == 3)
    assert made.observer is watcher
    assert stepper.ended.cause == Fault.ACC_RANGE
