// What a page shows of the chip beside its registers: its signals, by their number in chip.json.
#include <cstring>
#include <vector>

#include "chip.h"

extern "C" {

void* celosia_signal(Chip* chip, int number) {
    auto* rootp = chip->model().rootp;
    void* all[] = {CELOSIA_SIGNALS};
    return all[number];
}

// Read `count` counters from register `first` on, 8 bytes each, as they are in this cycle, and leave
// all as it was: what answers on the register port is the chip with its run taken as ended, nothing
// comes from its memory, and when all is read its state is put back. 0: it did not answer.
int celosia_counters(Chip* chip, uint32_t first, int count, uint32_t* into) {
    auto& pins = chip->model();
    auto* rootp = pins.rootp;
    auto* bytes = reinterpret_cast<uint8_t*>(rootp);
    const std::vector<uint8_t> kept(bytes, bytes + sizeof(*rootp));
    const auto cycle = [&] {
        pins.clk = 1, pins.eval();
        pins.clk = 0, pins.eval();
    };
    pins.m_axi_arready = pins.m_axi_awready = pins.m_axi_wready = 0;
    pins.m_axi_rvalid = pins.m_axi_bvalid = 0;
    if (rootp->CELOSIA_STATUS == CELOSIA_RUNNING) rootp->CELOSIA_STATUS = CELOSIA_DONE;
    pins.clk = 0, pins.eval();
    int left = Chip::LITE_CYCLES;
    for (int i = 0; i < count; i++) {
        pins.s_axil_araddr = first + 8 * i, pins.s_axil_arvalid = 1, pins.s_axil_rready = 1;
        pins.eval();
        while (left && !pins.s_axil_rvalid) {
            const bool taken = pins.s_axil_arready;
            cycle(), left--;
            if (taken) pins.s_axil_arvalid = 0, pins.eval();
        }
        into[i] = pins.s_axil_rdata;
        cycle();
    }
    std::memcpy(bytes, kept.data(), kept.size());
    return left;
}

// Nothing ends a page but closing it: no destructor of a thread is ever due.
int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

}
