        .chip core4
        .name "dense 40-24-10 int8 batch 48"
        .arena 4032
        .buffer x, int8[48, 40], input, 0x0
        .buffer y, int8[48, 10], output, 0x780
        .buffer constant, int32[24], constant, 0x980
        .buffer constant.2, int32[24], constant, 0xa00
        .buffer constant.3, int8[1, 40, 24], constant, 0xa80
        .buffer constant.4, int32[10], constant, 0xe40
        .buffer constant.5, int32[10], constant, 0xe80
        .buffer constant.6, int8[1, 24, 10], constant, 0xec0
        load    acc[4], @constant, fmt=w32, rows=1, cols=24, group_step=1
        load    acc[10], @constant.2, fmt=w32, rows=1, cols=24, group_step=1
        load    ub[480], @constant.3, fmt=i8, rows=4, cols=4, pitch=24
        load    ub[0], @x, fmt=i8, rows=24, cols=4, pitch=40
        load    ub[520], @constant.3 + 0x4, fmt=i8, rows=4, cols=4, pitch=24
        load    ub[484], @constant.3 + 0x60, fmt=i8, rows=4, cols=4, pitch=24
        load    ub[24], @x + 0x4, fmt=i8, rows=24, cols=4, pitch=40
        load    ub[524], @constant.3 + 0x64, fmt=i8, rows=4, cols=4, pitch=24
        load    ub[48], @x + 0x8, fmt=i8, rows=24, cols=8, pitch=40, group_step=24
        matmul  acc[16], ub[0], ub[480], fmt=int8, n0=24, wrows=4
        matmul  acc[40], ub[0], ub[520], fmt=int8, n0=24, wrows=4
        load    ub[488], @constant.3 + 0xc0, fmt=i8, rows=8, cols=4, pitch=24
        load    ub[528], @constant.3 + 0xc4, fmt=i8, rows=8, cols=4, pitch=24
        matmul  acc[16], ub[24], ub[484], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[96], @x + 0x10, fmt=i8, rows=24, cols=8, pitch=40, group_step=24
        matmul  acc[40], ub[24], ub[524], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[496], @constant.3 + 0x180, fmt=i8, rows=8, cols=4, pitch=24
        load    ub[536], @constant.3 + 0x184, fmt=i8, rows=8, cols=4, pitch=24
        matmul  acc[16], ub[48], ub[488], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[144], @x + 0x18, fmt=i8, rows=24, cols=8, pitch=40, group_step=24
        matmul  acc[16], ub[72], ub[492], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[40], ub[48], ub[528], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[504], @constant.3 + 0x240, fmt=i8, rows=8, cols=4, pitch=24
        load    ub[544], @constant.3 + 0x244, fmt=i8, rows=8, cols=4, pitch=24
        load    ub[192], @x + 0x20, fmt=i8, rows=24, cols=8, pitch=40, group_step=24
        matmul  acc[40], ub[72], ub[532], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[16], ub[96], ub[496], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[512], @constant.3 + 0x300, fmt=i8, rows=8, cols=4, pitch=24
        matmul  acc[16], ub[120], ub[500], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[552], @constant.3 + 0x304, fmt=i8, rows=8, cols=4, pitch=24
        load    ub[240], @x + 0x3c0, fmt=i8, rows=24, cols=40, pitch=40, group_step=24
        matmul  acc[40], ub[96], ub[536], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[40], ub[120], ub[540], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[16], ub[144], ub[504], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[16], ub[168], ub[508], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[40], ub[144], ub[544], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[40], ub[168], ub[548], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[16], ub[192], ub[512], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[16], ub[216], ub[516], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[40], ub[192], ub[552], fmt=int8, accumulate, n0=24, wrows=4
        vector  requant, ub_i8[7904], acc[16], acc_row[4], acc_row[10], n0=24, zp=3, lo=3, hi=127
        matmul  acc[40], ub[216], ub[556], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[560], @constant.3 + 0x8, fmt=i8, rows=40, cols=4, pitch=24
        vector  requant, ub_i8[7952], acc[40], acc_row[5], acc_row[11], n0=24, zp=3, lo=3, hi=127
        load    ub[600], @constant.3 + 0xc, fmt=i8, rows=40, cols=4, pitch=24
        matmul  acc[16], ub[0], ub[560], fmt=int8, n0=24, wrows=4
        load    acc[112], @constant.4, fmt=w32, rows=1, cols=10, group_step=1
        load    acc[115], @constant.5, fmt=w32, rows=1, cols=10, group_step=1
        load    ub[640], @constant.6, fmt=i8, rows=24, cols=4, pitch=10
        matmul  acc[64], ub[240], ub[480], fmt=int8, n0=24, wrows=4
        load    ub[664], @constant.6 + 0x4, fmt=i8, rows=24, cols=4, pitch=10
        matmul  acc[64], ub[264], ub[484], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[64], ub[288], ub[488], fmt=int8, accumulate, n0=24, wrows=4
        load    ub[688], @constant.6 + 0x8, fmt=i8, rows=24, cols=2, pitch=10
        mov     r0, 312
        mov     r1, 492
        loop    7, L60
        matmul  acc[64], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L60:    matmul  acc[88], ub[240], ub[520], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[7928], acc[64], acc_row[4], acc_row[10], n0=24, zp=3, lo=3, hi=127
        load    ub[480], @constant.3 + 0x10, fmt=i8, rows=40, cols=4, pitch=24
        mov     r0, 264
        mov     r1, 524
        loop    9, L69
        matmul  acc[88], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L69:    matmul  acc[16], ub[24], ub[564], fmt=int8, accumulate, n0=24, wrows=4
        vector  requant, ub_i8[7976], acc[88], acc_row[5], acc_row[11], n0=24, zp=3, lo=3, hi=127
        load    ub[520], @constant.3 + 0x14, fmt=i8, rows=40, cols=4, pitch=24
        mov     r0, 48
        mov     r1, 568
        loop    8, L78
        matmul  acc[16], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L78:    matmul  acc[40], ub[0], ub[600], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8000], acc[16], acc_row[6], acc_row[12], n0=24, zp=3, lo=3, hi=127
        mov     r0, 24
        mov     r1, 604
        loop    9, L86
        matmul  acc[40], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L86:    matmul  acc[64], ub[240], ub[560], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8048], acc[40], acc_row[7], acc_row[13], n0=24, zp=3, lo=3, hi=127
        mov     r0, 264
        mov     r1, 564
        loop    9, L94
        matmul  acc[64], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L94:    matmul  acc[88], ub[240], ub[600], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8024], acc[64], acc_row[6], acc_row[12], n0=24, zp=3, lo=3, hi=127
        mov     r0, 264
        mov     r1, 604
        loop    9, L102
        matmul  acc[88], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L102:   matmul  acc[16], ub[0], ub[480], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8072], acc[88], acc_row[7], acc_row[13], n0=24, zp=3, lo=3, hi=127
        mov     r0, 24
        mov     r1, 484
        loop    9, L110
        matmul  acc[16], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L110:   matmul  acc[40], ub[0], ub[520], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8096], acc[16], acc_row[8], acc_row[14], n0=24, zp=3, lo=3, hi=127
        mov     r0, 24
        mov     r1, 524
        loop    9, L118
        matmul  acc[40], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L118:   matmul  acc[64], ub[240], ub[480], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8144], acc[40], acc_row[9], acc_row[15], n0=24, zp=3, lo=3, hi=127
        mov     r0, 264
        mov     r1, 484
        loop    9, L126
        matmul  acc[64], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L126:   matmul  acc[88], ub[240], ub[520], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8120], acc[64], acc_row[8], acc_row[14], n0=24, zp=3, lo=3, hi=127
        mov     r0, 264
        mov     r1, 524
        loop    9, L134
        matmul  acc[88], ub[r0], ub[r1], fmt=int8, accumulate, n0=24, wrows=4
        add     r0, r0, 24
        add     r1, r1, 4
L134:   matmul  acc[118], ub[7904], ub[640], fmt=int8, n0=24, wrows=4
        vector  requant, ub_i8[8168], acc[88], acc_row[9], acc_row[15], n0=24, zp=3, lo=3, hi=127
        matmul  acc[118], ub[7952], ub[644], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8000], ub[648], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8048], ub[652], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8096], ub[656], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8144], ub[660], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[7904], ub[664], fmt=int8, n0=24, wrows=4
        vector  requant, acc[118], acc[118], acc_row[112], acc_row[115], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[142], ub[7952], ub[668], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8000], ub[672], fmt=int8, accumulate, n0=24, wrows=4
        store   acc[118], @y, fmt=i8, rows=24, cols=4, pitch=10
        matmul  acc[142], ub[8048], ub[676], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8096], ub[680], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8144], ub[684], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[7904], ub[688], fmt=int8, n0=24, wrows=4
        vector  requant, acc[142], acc[142], acc_row[113], acc_row[116], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[118], ub[7952], ub[692], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8000], ub[696], fmt=int8, accumulate, n0=24, wrows=4
        store   acc[142], @y + 0x4, fmt=i8, rows=24, cols=4, pitch=10
        matmul  acc[118], ub[8048], ub[700], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8096], ub[704], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8144], ub[708], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[7928], ub[640], fmt=int8, n0=24, wrows=4
        vector  requant, acc[118], acc[118], acc_row[114], acc_row[117], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[142], ub[7976], ub[644], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8024], ub[648], fmt=int8, accumulate, n0=24, wrows=4
        store   acc[118], @y + 0x8, fmt=i8, rows=24, cols=2, pitch=10
        matmul  acc[142], ub[8072], ub[652], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8120], ub[656], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8168], ub[660], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[7928], ub[664], fmt=int8, n0=24, wrows=4
        vector  requant, acc[142], acc[142], acc_row[112], acc_row[115], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[118], ub[7976], ub[668], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8024], ub[672], fmt=int8, accumulate, n0=24, wrows=4
        store   acc[142], @y + 0xf0, fmt=i8, rows=24, cols=4, pitch=10
        matmul  acc[118], ub[8072], ub[676], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8120], ub[680], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[118], ub[8168], ub[684], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[7928], ub[688], fmt=int8, n0=24, wrows=4
        vector  requant, acc[118], acc[118], acc_row[113], acc_row[116], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[142], ub[7976], ub[692], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8024], ub[696], fmt=int8, accumulate, n0=24, wrows=4
        store   acc[118], @y + 0xf4, fmt=i8, rows=24, cols=4, pitch=10
        matmul  acc[142], ub[8072], ub[700], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8120], ub[704], fmt=int8, accumulate, n0=24, wrows=4
        matmul  acc[142], ub[8168], ub[708], fmt=int8, accumulate, n0=24, wrows=4
        vector  requant, acc[142], acc[142], acc_row[114], acc_row[117], n0=24, zp=3, lo=-128, hi=127
        store   acc[142], @y + 0xf8, fmt=i8, rows=24, cols=2, pitch=10
        halt
