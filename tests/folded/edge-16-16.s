        .chip edge
        .name "dense 16-16 int8 batch 128"
        .arena 4480
        .buffer x, int8[128, 16], input, 0x0
        .buffer y, int8[128, 16], output, 0x800
        .buffer constant, int32[16], constant, 0x1000
        .buffer constant.2, int32[16], constant, 0x1040
        .buffer constant.3, int8[1, 16, 16], constant, 0x1080
        load    acc[4], @constant, fmt=w32, rows=1, cols=16, group_step=1
        load    acc[6], @constant.2, fmt=w32, rows=1, cols=16, group_step=1
        load    ub[0], @x, fmt=i8, rows=32, cols=16, pitch=16, group_step=32
        load    ub[256], @constant.3, fmt=i8, rows=16, cols=8, pitch=16
        load    ub[64], @x + 0x200, fmt=i8, rows=32, cols=16, pitch=16, group_step=32
        matmul  acc[8], ub[0], ub[256], fmt=int8, n0=32, wrows=8
        load    ub[128], @x + 0x400, fmt=i8, rows=32, cols=16, pitch=16, group_step=32
        matmul  acc[8], ub[32], ub[264], fmt=int8, accumulate, n0=32, wrows=8
        load    ub[192], @x + 0x600, fmt=i8, rows=32, cols=16, pitch=16, group_step=32
        matmul  acc[40], ub[64], ub[256], fmt=int8, n0=32, wrows=8
        vector  requant, acc[72], acc[8], acc_row[4], acc_row[6], n0=32, zp=3, lo=3, hi=127
        matmul  acc[40], ub[96], ub[264], fmt=int8, accumulate, n0=32, wrows=8
        load    ub[272], @constant.3 + 0x8, fmt=i8, rows=16, cols=8, pitch=16
        store   acc[72], @y, fmt=i8, rows=32, cols=8, pitch=16
        matmul  acc[8], ub[128], ub[256], fmt=int8, n0=32, wrows=8
        vector  requant, acc[104], acc[40], acc_row[4], acc_row[6], n0=32, zp=3, lo=3, hi=127
        matmul  acc[8], ub[160], ub[264], fmt=int8, accumulate, n0=32, wrows=8
        store   acc[104], @y + 0x200, fmt=i8, rows=32, cols=8, pitch=16
        matmul  acc[40], ub[192], ub[256], fmt=int8, n0=32, wrows=8
        vector  requant, acc[72], acc[8], acc_row[4], acc_row[6], n0=32, zp=3, lo=3, hi=127
        matmul  acc[40], ub[224], ub[264], fmt=int8, accumulate, n0=32, wrows=8
        store   acc[72], @y + 0x400, fmt=i8, rows=32, cols=8, pitch=16
        matmul  acc[8], ub[0], ub[272], fmt=int8, n0=32, wrows=8
        vector  requant, acc[104], acc[40], acc_row[4], acc_row[6], n0=32, zp=3, lo=3, hi=127
        matmul  acc[8], ub[32], ub[280], fmt=int8, accumulate, n0=32, wrows=8
        store   acc[104], @y + 0x600, fmt=i8, rows=32, cols=8, pitch=16
        matmul  acc[40], ub[64], ub[272], fmt=int8, n0=32, wrows=8
        vector  requant, acc[72], acc[8], acc_row[5], acc_row[7], n0=32, zp=3, lo=3, hi=127
        matmul  acc[40], ub[96], ub[280], fmt=int8, accumulate, n0=32, wrows=8
        store   acc[72], @y + 0x8, fmt=i8, rows=32, cols=8, pitch=16
        matmul  acc[8], ub[128], ub[272], fmt=int8, n0=32, wrows=8
        vector  requant, acc[104], acc[40], acc_row[5], acc_row[7], n0=32, zp=3, lo=3, hi=127
        matmul  acc[8], ub[160], ub[280], fmt=int8, accumulate, n0=32, wrows=8
        store   acc[104], @y + 0x208, fmt=i8, rows=32, cols=8, pitch=16
        matmul  acc[40], ub[192], ub[272], fmt=int8, n0=32, wrows=8
        vector  requant, acc[72], acc[8], acc_row[5], acc_row[7], n0=32, zp=3, lo=3, hi=127
        matmul  acc[40], ub[224], ub[280], fmt=int8, accumulate, n0=32, wrows=8
        store   acc[72], @y + 0x408, fmt=i8, rows=32, cols=8, pitch=16
        vector  requant, acc[104], acc[40], acc_row[5], acc_row[7], n0=32, zp=3, lo=3, hi=127
        store   acc[104], @y + 0x608, fmt=i8, rows=32, cols=8, pitch=16
        halt
