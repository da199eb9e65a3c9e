# liberltrace, static and shared: only what include/erltrace.h names is visible in either.
#
# The interface may still change while the version begins with 0, so the soname contains the whole version.

LIB_DIR     := $(BUILD)/lib
SONAME      := liberltrace.so.$(VERSION)
LIB_A       := $(LIB_DIR)/liberltrace.a
LIB_SO      := $(LIB_DIR)/$(SONAME)
OBJ_LIB_ALL  = $(call objects,$(ROOMS_LIB))
LD          ?= ld
OBJCOPY     ?= objcopy

# The static library as it is installed under PREFIX, where a program that is linked with it will look for the agent. The build's own
# library has the PREFIX of the earlier `make`; what that made stays as it is.
LIB_AT   := $(LIB_DIR)/at$(subst /,-,$(PREFIX))
LIB_A_AT := $(LIB_AT)/liberltrace.a

# One object, including libei, in which everything else is local: its names cannot clash with those of the program.
$(LIB_A): $(OBJ_LIB_ALL)
$(LIB_A_AT): $(filter-out %/session/libdir.o,$(OBJ_LIB_ALL)) $(LIB_AT)/libdir.o
$(LIB_A) $(LIB_A_AT):
	@mkdir -p $(@D)
	@echo "  AR    $@"
	$(Q)$(LD) -r -o $(@D)/erltrace.o $^ $(EI_LIB)
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='erltrace_*' $(@D)/erltrace.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(@D)/erltrace.o && rm -f $(@D)/erltrace.o

$(LIB_AT)/libdir.o: c_src/session/libdir.c
	@mkdir -p $(@D)
	@echo "  CC    $< for $(PREFIX)"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(LIB_SO): $(OBJ_LIB_ALL)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(SANFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,now,-z,relro,-z,noexecstack -Wl,--exclude-libs,ALL \
	    $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $^ $(EI_LIB) -lm -pthread
	$(Q)ln -sf $(SONAME) $(LIB_DIR)/liberltrace.so

# In the folder of its PREFIX, and always made again.
PC := $(LIB_AT)/erltrace.pc
.PHONY: $(PC)
$(PC): include/erltrace.pc.in
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< >$@
