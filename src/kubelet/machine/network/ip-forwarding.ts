/** Switches IP forwarding on: Pods are reachable from outside of their bridge only with it. */
import { hasIpv6, linkNames, readSwitch, setSwitch } from "../../../host/network/network-links.ts";

const FORWARDING = { 4: "net/ipv4/ip_forward", 6: "net/ipv6/conf/all/forwarding" } as const;

/** Rejects with the remedy if this machine does not allow it, or has no IPv6. */
export async function allowForwarding(family: 4 | 6): Promise<void> {
  if (family === 6) await requireIpv6();
  const name = FORWARDING[family];
  if ((await readSwitch(name)) === "1") return;
  try {
    if (family === 6) await keepRouterAdvertisements();
    await setSwitch(name, "1");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const sysctl = name.replaceAll("/", ".");
    throw new Error(`Cannot give Pods a network: ${sysctl} is not 1 and cannot be set: ${reason}; set it with sysctl`, { cause: error });
  }
}

export async function requireIpv6(): Promise<void> {
  if (await hasIpv6()) return;
  throw new Error(
    "Cannot give Pods IPv6 addresses: IPv6 is disabled on this machine; enable it with sysctl net.ipv6.conf.all.disable_ipv6=0, or leave " +
      "the IPv6 ranges out of --cluster-cidr and --service-cluster-ip-range",
  );
}

/** A link that accepts router advertisements only as a host (1) would lose its default route with forwarding; 2 accepts them in any case. */
async function keepRouterAdvertisements(): Promise<void> {
  for (const link of await linkNames()) {
    const name = `net/ipv6/conf/${link}/accept_ra`;
    if ((await readSwitch(name)) === "1") await setSwitch(name, "2");
  }
}
