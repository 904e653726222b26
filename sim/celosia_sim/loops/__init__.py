"""A grid of equal elements as loops over arrays: from Yosys' Verilog to Verilator's C++.

`vectorise.loops` writes a grid for `celosia_hw.verilog.emit.verilog`, from the netlist that
`netlist.Element` reads; `localise.localise` is a pass over the C++ that Verilator makes of it. What
comes out is the same chip, cycle by cycle: the lockstep tests run both forms.
"""
