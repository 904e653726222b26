// A stand-in for the chip with the same pins: registers, an engine that reads bursts into `ub`,
// one that writes bursts out of it, and the cycles at which the bus moved. Tests of the harness
// build it in seconds. BUS_BYTES is replaced by the test.
//
// 0x00 SCRATCH  0x04 SRC  0x08 DST  0x0C bursts - 1 [31:16], beats - 1 [7:0]
// 0x10 START (1 read, 2 write)  0x14 {error, done, busy}  0x18 IRQ_ENABLE
// 0x20 first AR  0x24 first R  0x28 last R  0x2C first W  0x30 last W  0x34 last B
// 0x38 bad handshake: 1 drops arvalid, 2 sends an early wlast   0x3C parity of `acc` at a row
// others: SLVERR
module celosia (
    input clk, input rst, output irq,
    input [11:0] s_axil_awaddr, input [2:0] s_axil_awprot, input s_axil_awvalid,
    output s_axil_awready,
    input [31:0] s_axil_wdata, input [3:0] s_axil_wstrb, input s_axil_wvalid, output s_axil_wready,
    output reg [1:0] s_axil_bresp, output reg s_axil_bvalid, input s_axil_bready,
    input [11:0] s_axil_araddr, input [2:0] s_axil_arprot, input s_axil_arvalid,
    output s_axil_arready,
    output reg [31:0] s_axil_rdata, output reg [1:0] s_axil_rresp, output reg s_axil_rvalid,
    input s_axil_rready,
    output m_axi_arid, output reg [31:0] m_axi_araddr, output [7:0] m_axi_arlen,
    output [2:0] m_axi_arsize, output [1:0] m_axi_arburst, output m_axi_arlock,
    output [3:0] m_axi_arcache, output [2:0] m_axi_arprot, output m_axi_arvalid,
    input m_axi_arready,
    input m_axi_rid, input [8*BUS_BYTES-1:0] m_axi_rdata, input [1:0] m_axi_rresp,
    input m_axi_rlast, input m_axi_rvalid, output m_axi_rready,
    output m_axi_awid, output reg [31:0] m_axi_awaddr, output [7:0] m_axi_awlen,
    output [2:0] m_axi_awsize, output [1:0] m_axi_awburst, output m_axi_awlock,
    output [3:0] m_axi_awcache, output [2:0] m_axi_awprot, output m_axi_awvalid,
    input m_axi_awready,
    output [8*BUS_BYTES-1:0] m_axi_wdata, output [BUS_BYTES-1:0] m_axi_wstrb, output m_axi_wlast,
    output m_axi_wvalid, input m_axi_wready,
    input m_axi_bid, input [1:0] m_axi_bresp, input m_axi_bvalid, output m_axi_bready
);
    localparam BYTES = BUS_BYTES;
    reg [31:0] scratch, src, dst, now, t_ar, t_r, t_rl, t_w, t_wl, t_b;
    reg [15:0] bursts;
    reg [7:0] beats;
    reg irq_enable, busy, done, error;
    reg [1:0] bad;

    assign m_axi_arid = 0, m_axi_awid = 0, m_axi_arburst = 1, m_axi_awburst = 1;
    assign m_axi_arsize = $clog2(BYTES), m_axi_awsize = $clog2(BYTES);
    assign m_axi_arlock = 0, m_axi_awlock = 0, m_axi_arcache = 3, m_axi_awcache = 3;
    assign m_axi_arprot = 0, m_axi_awprot = 0;
    assign m_axi_arlen = beats, m_axi_awlen = beats;
    assign irq = irq_enable & done;

    // One write and one read of a register at a time.
    assign s_axil_awready = s_axil_awvalid & s_axil_wvalid & ~s_axil_bvalid;
    assign s_axil_wready = s_axil_awready;
    assign s_axil_arready = ~s_axil_rvalid;

    reg [16:0] ar_left, aw_left, wb_left, b_left, rb_left;
    reg [7:0] w_beat;
    wire parity;
    reg [9:0] row;  // of the next beat that is read or written
    assign m_axi_arvalid = ar_left != 0 & ~(bad[0] & now[0]);
    assign m_axi_awvalid = aw_left != 0;
    assign m_axi_rready = rb_left != 0;
    assign m_axi_wvalid = wb_left != 0;
    assign m_axi_wlast = w_beat == (bad[1] ? 8'd0 : beats);
    assign m_axi_wstrb = {BYTES{1'b1}};
    assign m_axi_bready = b_left != 0;
    ub ub(.clk(clk), .row(row), .we(m_axi_rvalid & m_axi_rready), .wdata(m_axi_rdata),
          .rdata(m_axi_wdata));
    acc acc(.clk(clk), .row(row), .we(m_axi_rvalid & m_axi_rready), .wdata({2{m_axi_rdata}}),
            .parity(parity));

    always @(posedge clk) begin
        now <= now + 1;
        if (m_axi_arvalid & m_axi_arready) begin
            if (t_ar == 0) t_ar <= now;
            ar_left <= ar_left - 1;
            m_axi_araddr <= m_axi_araddr + BYTES * (beats + 1);
        end
        if (m_axi_rvalid & m_axi_rready) begin
            if (t_r == 0) t_r <= now;
            t_rl <= now;
            row <= row + 1;
            if (m_axi_rresp != 0) error <= 1;
            if (m_axi_rlast) begin
                rb_left <= rb_left - 1;
                if (rb_left == 1) begin busy <= 0; done <= 1; end
            end
        end
        if (m_axi_awvalid & m_axi_awready) begin
            aw_left <= aw_left - 1;
            m_axi_awaddr <= m_axi_awaddr + BYTES * (beats + 1);
        end
        if (m_axi_wvalid & m_axi_wready) begin
            if (t_w == 0) t_w <= now;
            t_wl <= now;
            row <= row + 1;
            w_beat <= w_beat == beats ? 0 : w_beat + 1;
            if (w_beat == beats) wb_left <= wb_left - 1;
        end
        if (m_axi_bvalid & m_axi_bready) begin
            t_b <= now;
            if (m_axi_bresp != 0) error <= 1;
            b_left <= b_left - 1;
            if (b_left == 1) begin busy <= 0; done <= 1; end
        end

        if (s_axil_bready) s_axil_bvalid <= 0;
        if (s_axil_awready) begin
            s_axil_bvalid <= 1;
            s_axil_bresp <= 0;
            case (s_axil_awaddr)
                12'h00: scratch <= s_axil_wdata;
                12'h04: src <= s_axil_wdata;
                12'h08: dst <= s_axil_wdata;
                12'h0C: begin bursts <= s_axil_wdata[31:16]; beats <= s_axil_wdata[7:0]; end
                12'h10: begin
                    busy <= 1; done <= 0; error <= 0; row <= 0; w_beat <= 0;
                    t_ar <= 0; t_r <= 0; t_w <= 0;
                    if (s_axil_wdata[0]) begin
                        m_axi_araddr <= src; ar_left <= bursts + 1; rb_left <= bursts + 1;
                    end else begin
                        m_axi_awaddr <= dst; aw_left <= bursts + 1; wb_left <= bursts + 1;
                        b_left <= bursts + 1;
                    end
                end
                12'h14: done <= 0;
                12'h18: irq_enable <= s_axil_wdata[0];
                12'h38: bad <= s_axil_wdata[1:0];
                default: s_axil_bresp <= 2;
            endcase
        end
        if (s_axil_rready) s_axil_rvalid <= 0;
        if (s_axil_arvalid & s_axil_arready) begin
            s_axil_rvalid <= 1;
            s_axil_rresp <= 0;
            case (s_axil_araddr)
                12'h00: s_axil_rdata <= scratch;
                12'h04: s_axil_rdata <= src;
                12'h08: s_axil_rdata <= dst;
                12'h14: s_axil_rdata <= {29'b0, error, done, busy};
                12'h20: s_axil_rdata <= t_ar;
                12'h24: s_axil_rdata <= t_r;
                12'h28: s_axil_rdata <= t_rl;
                12'h2C: s_axil_rdata <= t_w;
                12'h30: s_axil_rdata <= t_wl;
                12'h34: s_axil_rdata <= t_b;
                12'h3C: s_axil_rdata <= parity;
                default: begin s_axil_rdata <= 0; s_axil_rresp <= 2; end
            endcase
        end
        if (rst) begin
            scratch <= 0; now <= 0; busy <= 0; done <= 0; error <= 0; irq_enable <= 0; bad <= 0;
            ar_left <= 0; aw_left <= 0; wb_left <= 0; b_left <= 0; rb_left <= 0;
            s_axil_bvalid <= 0; s_axil_rvalid <= 0;
        end
    end
endmodule

module ub (input clk, input [9:0] row, input we, input [8*BUS_BYTES-1:0] wdata,
           output [8*BUS_BYTES-1:0] rdata);
    wire [8*BUS_BYTES-1:0] q[0:3];
    genvar i;
    \celosia.ub.bank0 bank0 (clk, row[9:2], we & row[1:0] == 0, wdata, q[0]);
    \celosia.ub.bank0 bank1 (clk, row[9:2], we & row[1:0] == 1, wdata, q[1]);
    \celosia.ub.bank0 bank2 (clk, row[9:2], we & row[1:0] == 2, wdata, q[2]);
    \celosia.ub.bank0 bank3 (clk, row[9:2], we & row[1:0] == 3, wdata, q[3]);
    assign rdata = q[row[1:0]];
endmodule

module \celosia.ub.bank0 (input clk, input [7:0] row, input we, input [8*BUS_BYTES-1:0] wdata,
                          output [8*BUS_BYTES-1:0] rdata);
    reg [8*BUS_BYTES-1:0] mem [0:255];
    always @(posedge clk) if (we) mem[row] <= wdata;
    assign rdata = mem[row];
endmodule

module acc (input clk, input [9:0] row, input we, input [16*BUS_BYTES-1:0] wdata, output parity);
    reg [16*BUS_BYTES-1:0] bank0 [0:63], bank1 [0:63], bank2 [0:63], bank3 [0:63];
    assign parity = ^{bank0[row[7:2]], bank1[row[7:2]], bank2[row[7:2]], bank3[row[7:2]]};
    always @(posedge clk) if (we & row < 256) case (row[1:0])
        0: bank0[row[7:2]] <= wdata;
        1: bank1[row[7:2]] <= wdata;
        2: bank2[row[7:2]] <= wdata;
        3: bank3[row[7:2]] <= wdata;
    endcase
endmodule
