/* cpu.d - the processor that a probe fires on: curcpu, and short names for its members. The names
 * that begin with _ are built in. */
#pragma D depends_on library types.d

typedef struct cpuinfo {
	processorid_t cpu_id;	/* its number */
	psetid_t cpu_pset;	/* its processor set: there is one */
	chipid_t cpu_chip;	/* the chip that it is on */
	lgrp_id_t cpu_lgrp;	/* its locality group: there is one */
} cpuinfo_t;

translator cpuinfo_t < processorid_t C > {
	cpu_id = C;
	cpu_pset = 0;
	cpu_chip = _chip;
	cpu_lgrp = 0;
};

inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (cpu);
#pragma D attributes Stable/Stable/Common curcpu

inline psetid_t pset = curcpu->cpu_pset;
#pragma D attributes Stable/Stable/Common pset

inline chipid_t chip = curcpu->cpu_chip;
#pragma D attributes Stable/Stable/Common chip

inline lgrp_id_t lgrp = curcpu->cpu_lgrp;
#pragma D attributes Stable/Stable/Common lgrp
