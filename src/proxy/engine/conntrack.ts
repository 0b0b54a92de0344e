/**
 * Deletes stale UDP flows with the `conntrack` program, in the node's network namespace. Failures never stop the proxy: without the program
 * (Debian package conntrack) the user gets one warning, and flows end by their timeout as soon as a client pauses. Not here: which flows are
 * stale (stale-flows.ts).
 */
import { formatIp, parseIp } from "../../api/machinery/ip/ip-address.ts";
import type { Logger } from "../../base/logger.ts";
import { CommandError, type NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { ProxyModel, ServicePort } from "../model.ts";
import { staleFlows, udpChanged, udpPorts, type UdpFlow } from "./stale-flows.ts";

/** Deletions per clean-up, so that changes of rules do not wait long for it; the rest is the next one's. */
const DELETIONS_MAX = 1_000;

/**
 * Earlier service ports that are kept for a clean-up that fails again and again: more than a large cluster has of UDP. The oldest are
 * forgotten; their flows end by their timeout.
 */
const EARLIER_PORTS_MAX = 20_000;

export interface ConntrackOptions {
  readonly namespace: NetworkNamespace;
  readonly log: Logger;
  warn(message: string): void;
}

interface FamilyFlows {
  readonly family: 4 | 6;
  /** UDP service ports of models since the last complete clean-up. */
  readonly earlier: Set<ServicePort>;
  isDue: boolean;
}

export class Conntrack {
  readonly #options: ConntrackOptions;
  readonly #families: readonly FamilyFlows[] = ([4, 6] as const).map((family) => ({ family, earlier: new Set(), isDue: false }));
  /** The model of the last `cleanUp`. */
  #last: ProxyModel | undefined;
  #isMissing = false;

  constructor(options: ConntrackOptions) {
    this.#options = options;
  }

  /** True if stale flows may be left, because the last clean-up failed or had too many of them: it is to be repeated. */
  get isPending(): boolean {
    return !this.#isMissing && this.#families.some(({ isDue }) => isDue);
  }

  /**
   * Called after `now` was applied, and again while it is pending. What changed is recorded first: a failure loses nothing. Resolves with
   * the number of deleted kinds of flows.
   */
  async cleanUp(now: ProxyModel): Promise<number> {
    for (const one of this.#families) this.#record(one, now);
    this.#last = now;
    let deleted = 0;
    for (const one of this.#families) {
      if (!one.isDue || this.#isMissing) continue;
      try {
        deleted += await this.#cleanUpFamily(one, now);
      } catch (error) {
        this.#failed(error);
      }
    }
    return deleted;
  }

  #record(one: FamilyFlows, now: ProxyModel): void {
    if (!udpChanged(this.#last, now, one.family)) return;
    one.isDue = true;
    if (this.#last !== undefined) for (const port of udpPorts(this.#last, one.family)) one.earlier.add(port);
    for (const port of one.earlier) {
      if (one.earlier.size <= EARLIER_PORTS_MAX) break;
      one.earlier.delete(port);
    }
  }

  async #cleanUpFamily(one: FamilyFlows, now: ProxyModel): Promise<number> {
    const { family, earlier } = one;
    const listed = await this.#run("-L", "-f", `ipv${family}`, "-p", "udp");
    const stale = staleFlows(parseFlows(listed), earlier, now, family);
    for (const flow of stale.slice(0, DELETIONS_MAX)) await this.#delete(flow, family);
    if (stale.length > DELETIONS_MAX) {
      this.#options.log.info("Deleting stale UDP flows in several steps", { stale: stale.length, deleted: DELETIONS_MAX });
      return DELETIONS_MAX;
    }
    earlier.clear();
    one.isDue = false;
    return stale.length;
  }

  async #delete({ destination, destinationPort, replySource, replySourcePort }: UdpFlow, family: 4 | 6): Promise<void> {
    const original = ["--orig-dst", destination, "--orig-port-dst", String(destinationPort)];
    const reply = ["--reply-src", replySource, "--reply-port-src", String(replySourcePort)];
    await this.#run("-D", "-f", `ipv${family}`, "-p", "udp", ...original, ...reply).catch((error: unknown) => {
      // Exit code 1: the flow ended meanwhile.
      if (!(error instanceof CommandError && error.exitCode === 1)) throw error;
    });
  }

  #run(...programArguments: readonly string[]): Promise<string> {
    return this.#options.namespace.run("conntrack", programArguments);
  }

  #failed(error: unknown): void {
    const { log, warn } = this.#options;
    if (!isMissing(error)) return log.warn("Cleaning up stale UDP flows failed", { error });
    this.#isMissing = true;
    warn("UDP clients may keep sending to deleted endpoints: the program conntrack is missing; install the package conntrack");
  }
}

/** In another network namespace the program is started by nsenter, which reports a missing one with exit code 127. */
function isMissing(error: unknown): boolean {
  return error instanceof CommandError && (error.isMissing || error.exitCode === 127);
}

/** Lines of `conntrack -L -p udp`: the original direction comes first, the reply second. Addresses are normalized. */
export function parseFlows(listed: string): readonly UdpFlow[] {
  return listed.split("\n").flatMap((line) => {
    const found = FLOW.exec(line);
    if (found === null) return [];
    const [, destination = "", destinationPort, replySource = "", replySourcePort] = found;
    return [
      {
        destination: normalized(destination),
        destinationPort: Number(destinationPort),
        replySource: normalized(replySource),
        replySourcePort: Number(replySourcePort),
      },
    ];
  });
}

const FLOW = /^udp\s.*?\bdst=(\S+) sport=\d+ dport=(\d+).*?\bsrc=(\S+) dst=\S+ sport=(\d+) dport=\d+/;

function normalized(address: string): string {
  const ip = parseIp(address);
  return ip === undefined ? address : formatIp(ip);
}
