# The runtime of programs in the kernel (bpf/): compiled for BPF by clang and embedded in the library. Without clang it is empty, and the
# kernel tier says so.

BPF_OBJ   := build/bpf/runtime.o
BPF_LIST  := build/bpf/arguments.h
BPF_CLANG := $(shell command -v clang 2>/dev/null)

$(BPF_OBJ): $(wildcard bpf/*.[ch]) c_src/linux/kmem.h guest/words/aggs.list guest/words/faults.list guest/words/drops.list
	@mkdir -p $(@D)
	@echo "  BPF   $@"
	$(Q)$(if $(BPF_CLANG),$(BPF_CLANG) -target bpf -O2 -mcpu=v3 -Wall -Wextra -Werror -Iguest -c bpf/runtime.c -o $@,: >$@)

# RUNTIME(name, number of arguments) for each function.
$(BPF_LIST): $(wildcard bpf/*.c)
	@mkdir -p $(@D)
	$(Q)sed -n 's/^RT \([a-z_0-9]*\)(\(.*\))$$/\1 \2/p' $^ | awk '{ print "RUNTIME(" $$1 ", " gsub(/u64/, "") ")" }' >$@

BPF_FLAGS = -DET_RUNTIME='"$(abspath $(BPF_OBJ))"' -DET_RUNTIME_ARGUMENTS='"$(abspath $(BPF_LIST))"'
RUNTIME_OBJ := $(addsuffix /c_src/linux/runtime.o,$(BUILD)/tool $(BUILD)/lib build/fuzz build/arm64/tool)
$(RUNTIME_OBJ): CFLAGS_ += $(BPF_FLAGS)
$(RUNTIME_OBJ): $(BPF_OBJ) $(BPF_LIST)
