/**
 * Deletes stale UDP flows with the `conntrack` program, in the node's network namespace. Failures never stop the proxy: without the program
 * (Debian package conntrack) the user gets one warning, and flows end by their timeout as soon as a client pauses. Not here: which flows are
 * stale (stale-flows.ts).
 */
import { formatIp, parseIp } from "../../api/machinery/ip-address.ts";
import type { Logger } from "../../base/logger.ts";
import { CommandError, type NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { ProxyModel } from "../model.ts";
import { staleFlows, udpChanged, type UdpFlow } from "./stale-flows.ts";

/** Deletions per clean-up. A stale flow beyond it is found again at the next change, or times out. */
const DELETIONS_MAX = 1_000;

export interface ConntrackOptions {
  readonly namespace: NetworkNamespace;
  readonly log: Logger;
  warn(message: string): void;
}

export class Conntrack {
  readonly #options: ConntrackOptions;
  #isMissing = false;

  constructor(options: ConntrackOptions) {
    this.#options = options;
  }

  /** Called after `now` was applied; `before` is the model applied before it. Resolves with the number of deleted kinds of flows. */
  async cleanUp(before: ProxyModel | undefined, now: ProxyModel): Promise<number> {
    if (this.#isMissing) return 0;
    let deleted = 0;
    for (const family of [4, 6] as const) {
      if (!udpChanged(before, now, family)) continue;
      try {
        const listed = await this.#run("-L", "-f", `ipv${family}`, "-p", "udp");
        const stale = staleFlows(parseFlows(listed), before, now, family);
        if (stale.length > DELETIONS_MAX)
          this.#options.log.warn("Deleting only a part of the stale UDP flows", { stale: stale.length, deleted: DELETIONS_MAX });
        for (const flow of stale.slice(0, DELETIONS_MAX)) await this.#delete(flow, family);
        deleted += Math.min(stale.length, DELETIONS_MAX);
      } catch (error) {
        this.#failed(error);
        return deleted;
      }
    }
    return deleted;
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
