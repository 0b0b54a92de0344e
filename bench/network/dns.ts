/**
 * Queries per second and their latency with 10,000 Services, each name as likely as every other. Baseline: a UDP server in Node that sends
 * back what it receives, with the same client.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { DnsLoadTasks } from "./dns-load-child.ts";
import type { DnsTasks } from "./dns-child.ts";

const SERVICES = 10_000;
const LOAD = { services: SERVICES, queries: 50_000, inFlight: 32 };
const RATIO_MIN = 0.3;

export const networkDns: Benchmark = {
  name: "network/dns",
  measures: "DNS queries/s and p99 with 10,000 Services, beside a bare UDP echo in Node",
  async *run({ rounds, signal }) {
    await using children = new Disposables();
    const start = () => children.use(startChild<DnsTasks>(import.meta.url, "dns-child", signal));
    const [dns, echo] = [await start().call("dns", { count: SERVICES }), await start().call("echo", null)];
    const client = children.use(startChild<DnsLoadTasks>(import.meta.url, "dns-load-child", signal));
    const measured = await rounds.measure({
      echo: () => client.call("load", { ...LOAD, port: echo }),
      dns: () => client.call("load", { ...LOAD, port: dns }),
    });
    const perSecond = (of: "echo" | "dns") => measured[of].map((result) => result.perSecond);
    const p99Ms = (of: "echo" | "dns") => measured[of].map((result) => result.p99Ms);
    yield figureOf({
      ...{ name: "network/dns-queries-10000-services", unit: "queries/s", values: perSecond("dns"), baselines: perSecond("echo") },
      budget: { atLeast: RATIO_MIN },
    });
    yield figureOf({ name: "network/dns-p99-10000-services", unit: "ms", values: p99Ms("dns"), baselines: p99Ms("echo") });
  },
};
