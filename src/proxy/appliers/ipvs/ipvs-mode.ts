/**
 * The proxy mode "ipvs": Services as virtual servers of the kernel's load balancer. Needs the kernel modules ip_vs and that of the
 * scheduler, and the programs ipvsadm and ipset; without them `open` says what is missing, and the engine falls back to iptables.
 */
import type { NetworkNamespace } from "../../../host/network/network-namespace.ts";
import type { ProxyModel } from "../../model.ts";
import {
  UnsupportedModeError,
  type AppliedChange,
  type Applier,
  type ApplierContext,
  type IntactCheck,
  type ProxyMode,
} from "../applier.ts";
import { FamilyApplier, removeFamily } from "./family-applier.ts";
import { linkName } from "./kernel-texts.ts";

/** Values of --ipvs-scheduler: those of the kernel. Every endpoint has the same weight. */
export const IPVS_SCHEDULERS = ["rr", "lc", "dh", "sh", "sed", "nq", "wrr", "wlc", "lblc", "lblcr", "mh", "ovf", "fo"] as const;

/** As upstream sets them: IPVS connections are visible to conntrack, and connections to removed endpoints end. */
const SWITCHES = ["conntrack", "expire_nodest_conn", "expire_quiescent_template"];

export const ipvs: ProxyMode = {
  name: "ipvs",
  open: openIpvs,
  async cleanUp({ owner, namespace }) {
    // Without IPVS in the kernel or its program, nothing of ours can exist.
    if ((await missingModule(namespace)) !== undefined || (await missingProgram(namespace)) !== undefined) return;
    for (const family of [4, 6] as const) await removeFamily({ owner, family }, namespace);
    await namespace.run("ip", ["link", "delete", linkName(owner)]).catch(() => ""); // It does not exist.
  },
};

async function openIpvs({ namespace, options, owner, log }: ApplierContext): Promise<Applier> {
  const { ipvsScheduler: scheduler, masqueradesAll } = options;
  if (!IPVS_SCHEDULERS.some((name) => name === scheduler))
    throw unsupported(`the scheduler "${scheduler}" is not one of ${IPVS_SCHEDULERS.join(", ")}`, "set --ipvs-scheduler");
  const module = await missingModule(namespace, scheduler);
  if (module !== undefined) throw unsupported(`this kernel has no module ${module}`, `load it with "modprobe ${module}"`);
  const program = await missingProgram(namespace);
  if (program !== undefined) throw unsupported(`the program ${program} is not installed`, `install the package ${program}`);
  await prepareKernel(namespace, owner);
  const hasIpv6 = await namespace.run("ip6tables-restore", ["--noflush"], "*filter\nCOMMIT\n").then(
    () => true,
    (error: unknown) => {
      log.info("Services of IPv6 are not proxied", { error });
      return false;
    },
  );
  const families = hasIpv6 ? ([4, 6] as const) : ([4] as const);
  return new IpvsApplier(families.map((family) => new FamilyApplier({ owner, family, scheduler, masqueradesAll }, namespace)));
}

class IpvsApplier implements Applier {
  readonly #families: readonly FamilyApplier[];

  constructor(families: readonly FamilyApplier[]) {
    this.#families = families;
  }

  async apply(model: ProxyModel): Promise<AppliedChange> {
    let written = 0;
    for (const family of this.#families) written += await family.apply(model);
    return { written };
  }

  async isIntact(check: IntactCheck): Promise<boolean> {
    let isIntact = true;
    for (const family of this.#families) isIntact = (await family.isIntact(check)) && isIntact;
    return isIntact;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function unsupported(problem: string, remedy: string): UnsupportedModeError {
  return new UnsupportedModeError(`Cannot use the proxy mode ipvs: ${problem}; ${remedy}, or use the mode iptables`);
}

/** The module that is missing, after an attempt to load it. */
async function missingModule(namespace: NetworkNamespace, scheduler?: string): Promise<string | undefined> {
  const hasIpvs = async () =>
    namespace.run("test", ["-e", "/proc/net/ip_vs"]).then(
      () => true,
      () => false,
    );
  if (!(await hasIpvs())) await namespace.run("modprobe", ["ip_vs"]).catch(() => "");
  if (!(await hasIpvs())) return "ip_vs";
  if (scheduler === undefined) return undefined;
  // Built-in schedulers have no module to load, and the kernel loads others on demand: only its use shows whether it exists.
  await namespace.run("modprobe", [`ip_vs_${scheduler}`]).catch(() => "");
  return undefined;
}

async function missingProgram(namespace: NetworkNamespace): Promise<string | undefined> {
  for (const program of ["ipvsadm", "ipset"]) {
    const isThere = await namespace.run(program, ["--version"]).then(
      () => true,
      () => false,
    );
    if (!isThere) return program;
  }
  return undefined;
}

/** The link that has all virtual addresses: packets to them are local, which IPVS needs. It is never up, so it answers no neighbour. */
async function prepareKernel(namespace: NetworkNamespace, owner: string): Promise<void> {
  const script = [
    `ip link show dev ${linkName(owner)} >/dev/null 2>&1 || ip link add ${linkName(owner)} type dummy`,
    ...SWITCHES.map((name) => `echo 1 > /proc/sys/net/ipv4/vs/${name}`),
  ];
  await namespace.run("sh", ["-ec", script.join("\n")]);
}
