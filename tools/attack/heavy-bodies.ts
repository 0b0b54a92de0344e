/**
 * Bodies that are expensive to parse, from a user without permissions: 30 connections send them to SelfSubjectAccessReview, which every
 * user may create. Another user's p99 latency may at most double against the baseline, and the server's memory stays bounded.
 */
import type { Attack, AttackReport } from "./attack.ts";
import { mebibytes, milliseconds, observe, percentile, startFlood } from "./load.ts";
import type { Target } from "./target.ts";

const SECOND_MS = 1_000;
const CONNECTIONS = 30;
const OBSERVED = 200;
const WARM_UP = 20;
const MEBIBYTE = 1024 * 1024;

/** Upper limit for blocking the event loop with one request; below it the factor is irrelevant. */
const P99_FLOOR_MS = 50;
const FACTOR_MAX = 2;
/** Tolerated growth of the process: a few large bodies and uncollected garbage. */
const GROWTH_BYTES_MAX = 400 * MEBIBYTE;

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const SMALL_MAX = 64 * 1024;
const MAPS = "/api/v1/namespaces/default/configmaps";
const YAML = { "content-type": "application/yaml" };
const JSON_TYPE = { "content-type": "application/json" };

interface Body {
  readonly it: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",");
}

const BODIES: readonly Body[] = [
  { it: "YAML text of 2.8 MB", headers: YAML, body: `a: ${"x ".repeat(1_400_000)}` },
  { it: "230,000 unknown keys", headers: JSON_TYPE, body: `{${members(230_000)}}` },
  { it: "YAML list of 64 KiB", headers: YAML, body: `a: [${"1,".repeat((SMALL_MAX - 10) / 2)}]` },
  { it: "YAML map of 3 KiB", headers: YAML, body: Array.from({ length: 350 }, (_, index) => `k${index}: v\n`).join("") },
  { it: "unknown keys, 64 KiB", headers: JSON_TYPE, body: `{"spec":{},${members(5_500)}}` },
  { it: "900 nested lists", headers: JSON_TYPE, body: `{"spec":{},"a":${"[".repeat(900)}${"]".repeat(900)}}` },
];

export const heavyBodies: Attack = {
  name: "heavy-bodies",
  tries:
    "sends bodies that are expensive to parse, without permissions; expected: others' p99 stays below 50 ms or at most doubles, memory is bounded",
  timeoutMs: 300 * SECOND_MS,
  async run(target, signal) {
    let attempts = 0;
    const breaches: string[] = [];
    const measured: Record<string, string> = {};
    await target.request({ method: "POST", path: MAPS, as: "administrator", headers: JSON_TYPE, body: OBSERVED_MAP });
    for (const body of BODIES) {
      if (signal.aborted) break;
      const report = await attackWith(target, body);
      attempts += report.attempts;
      breaches.push(...report.breaches);
      Object.assign(measured, report.measured);
    }
    return { attempts, breaches, measured };
  },
};

const OBSERVED_MAP = JSON.stringify({ metadata: { name: "observed" }, data: { a: "b" } });
const READ = { method: "GET", path: `${MAPS}/observed`, as: "administrator" } as const;

async function attackWith(target: Target, { it, headers, body }: Body): Promise<AttackReport> {
  const before = await target.residentBytes();
  // The first requests of a connection are slower.
  await observe(target, WARM_UP, READ);
  const quiet = percentile(await observe(target, OBSERVED, READ), 99);
  const flood = startFlood(target, CONNECTIONS, { path: REVIEWS, as: "mallory", headers, body });
  // Thirty concurrent handshakes are not part of this attack.
  await new Promise((resolve) => setTimeout(resolve, SECOND_MS));
  const attacked = await observe(target, OBSERVED, READ);
  const after = await target.residentBytes();
  const codes = await flood.stop();
  const p99 = percentile(attacked, 99);
  const limit = Math.max(P99_FLOOR_MS, quiet * FACTOR_MAX);
  const answered = [...codes].map(([code, count]) => `${count}×${code}`).join(" ");
  return {
    attempts: [...codes.values()].reduce((sum, count) => sum + count, 0),
    breaches: [
      ...(p99 > limit ? [`${it}: p99 of others ${milliseconds(p99)}, baseline ${milliseconds(quiet)}`] : []),
      ...(after - before > GROWTH_BYTES_MAX ? [`${it}: memory grew from ${mebibytes(before)} to ${mebibytes(after)}`] : []),
    ],
    measured: {
      [it]: `p50 ${milliseconds(percentile(attacked, 50))}, p99 ${milliseconds(p99)} (baseline ${milliseconds(quiet)}), RSS ${mebibytes(before)} → ${mebibytes(after)}, ${answered}`,
    },
  };
}
