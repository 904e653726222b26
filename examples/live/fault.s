; A program with a mistake: the store is one row longer than its buffer. Run it, and read what the chip says.
        .chip   nano
        .buffer a, int8[8, 4], input
        .buffer c, int8[8, 4], output
        load    ub[0], @a, fmt=i8, rows=8, cols=4, pitch=4
        store   ub[0], @c, fmt=i8, rows=9, cols=4, pitch=4
        halt
