        .chip nano
        .name "dense 16-16 int8 batch 128"
        .arena 4480
        .buffer x, int8[128, 16], input, 0x0
        .buffer y, int8[128, 16], output, 0x800
        .buffer constant, int32[16], constant, 0x1000
        .buffer constant.2, int32[16], constant, 0x1040
        .buffer constant.3, int8[1, 16, 16], constant, 0x1080
        load    acc[4], @constant, fmt=w32, rows=1, cols=16, group_step=1
        load    acc[8], @constant.2, fmt=w32, rows=1, cols=16, group_step=1
        load    ub[560], @constant.3, fmt=i8, rows=4, cols=4, pitch=16
        load    ub[0], @x, fmt=i8, rows=28, cols=4, pitch=16
        load    ub[576], @constant.3 + 0x4, fmt=i8, rows=4, cols=4, pitch=16
        load    ub[564], @constant.3 + 0x40, fmt=i8, rows=4, cols=4, pitch=16
        load    ub[28], @x + 0x4, fmt=i8, rows=28, cols=4, pitch=16
        load    ub[580], @constant.3 + 0x44, fmt=i8, rows=4, cols=4, pitch=16
        load    ub[56], @x + 0x8, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[12], ub[0], ub[560], fmt=int8, n0=28, wrows=4
        matmul  acc[40], ub[0], ub[576], fmt=int8, n0=28, wrows=4
        load    ub[568], @constant.3 + 0x80, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[584], @constant.3 + 0x84, fmt=i8, rows=8, cols=4, pitch=16
        matmul  acc[12], ub[28], ub[564], fmt=int8, accumulate, n0=28, wrows=4
        load    ub[112], @x + 0x1c0, fmt=i8, rows=28, cols=16, pitch=16, group_step=28
        matmul  acc[40], ub[28], ub[580], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[56], ub[568], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[84], ub[572], fmt=int8, accumulate, n0=28, wrows=4
        load    ub[224], @x + 0x380, fmt=i8, rows=28, cols=16, pitch=16, group_step=28
        matmul  acc[40], ub[56], ub[584], fmt=int8, accumulate, n0=28, wrows=4
        vector  requant, acc[124], acc[12], acc_row[4], acc_row[8], n0=28, zp=3, lo=3, hi=127
        matmul  acc[40], ub[84], ub[588], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[112], ub[560], fmt=int8, n0=28, wrows=4
        vector  requant, acc[152], acc[40], acc_row[5], acc_row[9], n0=28, zp=3, lo=3, hi=127
        matmul  acc[68], ub[140], ub[564], fmt=int8, accumulate, n0=28, wrows=4
        load    ub[336], @x + 0x540, fmt=i8, rows=28, cols=16, pitch=16, group_step=28
        store   acc[124], @y, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[68], ub[168], ub[568], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[196], ub[572], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[112], ub[576], fmt=int8, n0=28, wrows=4
        vector  requant, acc[180], acc[68], acc_row[4], acc_row[8], n0=28, zp=3, lo=3, hi=127
        matmul  acc[96], ub[140], ub[580], fmt=int8, accumulate, n0=28, wrows=4
        load    ub[448], @x + 0x700, fmt=i8, rows=16, cols=16, pitch=16, group_step=16
        matmul  acc[96], ub[168], ub[584], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[196], ub[588], fmt=int8, accumulate, n0=28, wrows=4
        load    ub[592], @constant.3 + 0x8, fmt=i8, rows=16, cols=4, pitch=16
        matmul  acc[12], ub[224], ub[560], fmt=int8, n0=28, wrows=4
        load    ub[608], @constant.3 + 0xc, fmt=i8, rows=16, cols=4, pitch=16
        vector  requant, acc[208], acc[96], acc_row[5], acc_row[9], n0=28, zp=3, lo=3, hi=127
        matmul  acc[12], ub[252], ub[564], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[280], ub[568], fmt=int8, accumulate, n0=28, wrows=4
        store   acc[180], @y + 0x1c0, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[12], ub[308], ub[572], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[224], ub[576], fmt=int8, n0=28, wrows=4
        vector  requant, acc[124], acc[12], acc_row[4], acc_row[8], n0=28, zp=3, lo=3, hi=127
        matmul  acc[40], ub[252], ub[580], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[280], ub[584], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[308], ub[588], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[336], ub[560], fmt=int8, n0=28, wrows=4
        vector  requant, acc[152], acc[40], acc_row[5], acc_row[9], n0=28, zp=3, lo=3, hi=127
        matmul  acc[68], ub[364], ub[564], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[392], ub[568], fmt=int8, accumulate, n0=28, wrows=4
        store   acc[124], @y + 0x380, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[68], ub[420], ub[572], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[336], ub[576], fmt=int8, n0=28, wrows=4
        vector  requant, acc[180], acc[68], acc_row[4], acc_row[8], n0=28, zp=3, lo=3, hi=127
        matmul  acc[96], ub[364], ub[580], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[392], ub[584], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[420], ub[588], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[448], ub[560], fmt=int8, n0=16, wrows=4
        matmul  acc[12], ub[464], ub[564], fmt=int8, accumulate, n0=16, wrows=4
        vector  requant, acc[208], acc[96], acc_row[5], acc_row[9], n0=28, zp=3, lo=3, hi=127
        matmul  acc[12], ub[480], ub[568], fmt=int8, accumulate, n0=16, wrows=4
        matmul  acc[12], ub[496], ub[572], fmt=int8, accumulate, n0=16, wrows=4
        store   acc[180], @y + 0x540, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[28], ub[448], ub[576], fmt=int8, n0=16, wrows=4
        matmul  acc[28], ub[464], ub[580], fmt=int8, accumulate, n0=16, wrows=4
        vector  requant, acc[124], acc[12], acc_row[4], acc_row[8], n0=16, zp=3, lo=3, hi=127
        matmul  acc[28], ub[480], ub[584], fmt=int8, accumulate, n0=16, wrows=4
        matmul  acc[28], ub[496], ub[588], fmt=int8, accumulate, n0=16, wrows=4
        matmul  acc[68], ub[0], ub[592], fmt=int8, n0=28, wrows=4
        vector  requant, acc[140], acc[28], acc_row[5], acc_row[9], n0=16, zp=3, lo=3, hi=127
        matmul  acc[68], ub[28], ub[596], fmt=int8, accumulate, n0=28, wrows=4
        store   acc[124], @y + 0x700, fmt=i8, rows=16, cols=8, pitch=16, group_step=16
        matmul  acc[68], ub[56], ub[600], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[84], ub[604], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[0], ub[608], fmt=int8, n0=28, wrows=4
        vector  requant, acc[180], acc[68], acc_row[6], acc_row[10], n0=28, zp=3, lo=3, hi=127
        matmul  acc[96], ub[28], ub[612], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[56], ub[616], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[84], ub[620], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[112], ub[592], fmt=int8, n0=28, wrows=4
        vector  requant, acc[208], acc[96], acc_row[7], acc_row[11], n0=28, zp=3, lo=3, hi=127
        matmul  acc[12], ub[140], ub[596], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[168], ub[600], fmt=int8, accumulate, n0=28, wrows=4
        store   acc[180], @y + 0x8, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[12], ub[196], ub[604], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[112], ub[608], fmt=int8, n0=28, wrows=4
        vector  requant, acc[124], acc[12], acc_row[6], acc_row[10], n0=28, zp=3, lo=3, hi=127
        matmul  acc[40], ub[140], ub[612], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[168], ub[616], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[196], ub[620], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[224], ub[592], fmt=int8, n0=28, wrows=4
        vector  requant, acc[152], acc[40], acc_row[7], acc_row[11], n0=28, zp=3, lo=3, hi=127
        matmul  acc[68], ub[252], ub[596], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[280], ub[600], fmt=int8, accumulate, n0=28, wrows=4
        store   acc[124], @y + 0x1c8, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[68], ub[308], ub[604], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[224], ub[608], fmt=int8, n0=28, wrows=4
        vector  requant, acc[180], acc[68], acc_row[6], acc_row[10], n0=28, zp=3, lo=3, hi=127
        matmul  acc[96], ub[252], ub[612], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[280], ub[616], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[96], ub[308], ub[620], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[336], ub[592], fmt=int8, n0=28, wrows=4
        vector  requant, acc[208], acc[96], acc_row[7], acc_row[11], n0=28, zp=3, lo=3, hi=127
        matmul  acc[12], ub[364], ub[596], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[12], ub[392], ub[600], fmt=int8, accumulate, n0=28, wrows=4
        store   acc[180], @y + 0x388, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[12], ub[420], ub[604], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[336], ub[608], fmt=int8, n0=28, wrows=4
        vector  requant, acc[124], acc[12], acc_row[6], acc_row[10], n0=28, zp=3, lo=3, hi=127
        matmul  acc[40], ub[364], ub[612], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[392], ub[616], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[40], ub[420], ub[620], fmt=int8, accumulate, n0=28, wrows=4
        matmul  acc[68], ub[448], ub[592], fmt=int8, n0=16, wrows=4
        matmul  acc[68], ub[464], ub[596], fmt=int8, accumulate, n0=16, wrows=4
        vector  requant, acc[152], acc[40], acc_row[7], acc_row[11], n0=28, zp=3, lo=3, hi=127
        matmul  acc[68], ub[480], ub[600], fmt=int8, accumulate, n0=16, wrows=4
        matmul  acc[68], ub[496], ub[604], fmt=int8, accumulate, n0=16, wrows=4
        store   acc[124], @y + 0x548, fmt=i8, rows=28, cols=8, pitch=16, group_step=28
        matmul  acc[84], ub[448], ub[608], fmt=int8, n0=16, wrows=4
        matmul  acc[84], ub[464], ub[612], fmt=int8, accumulate, n0=16, wrows=4
        vector  requant, acc[180], acc[68], acc_row[6], acc_row[10], n0=16, zp=3, lo=3, hi=127
        matmul  acc[84], ub[480], ub[616], fmt=int8, accumulate, n0=16, wrows=4
        matmul  acc[84], ub[496], ub[620], fmt=int8, accumulate, n0=16, wrows=4
        store   acc[180], @y + 0x708, fmt=i8, rows=16, cols=4, pitch=16
        vector  requant, acc[196], acc[84], acc_row[7], acc_row[11], n0=16, zp=3, lo=3, hi=127
        store   acc[196], @y + 0x70c, fmt=i8, rows=16, cols=4, pitch=16
        halt
