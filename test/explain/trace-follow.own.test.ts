import { equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { trace } from "../../src/cli/commands/explain/trace.ts";

const MAPS = { group: "", version: "v1", plural: "configmaps", namespace: "default" };

test("k8ts trace -f prints a write when it is recorded, and ends when it is stopped", async () => {
  await using cluster = await startCluster({ nodes: 0, listen: true });
  const transport = cluster.transport({ userAgent: "test" });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "traced" } };
  const created = await transport.request({ ...MAPS, verb: "create", object });
  const revision = created.is === "object" ? (created.object.metadata.resourceVersion ?? "") : "";
  const parsed = trace.parse(["configmap/traced", "-f", "--kubeconfig", cluster.kubeconfig], { HOME: "/" });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const stop = new AbortController();
  const printed = new Lines();
  const io = { out: (line: string) => printed.add(line), note: () => undefined, environment: {}, clock: realClock, log: silentLogger };
  const ended = trace.run(parsed.options, { ...io, signal: stop.signal });
  const prints = (text: string) => Promise.race([printed.has(text), ended.then(() => Promise.reject(new Error("The command ended")))]);
  await prints("create configmaps default/traced");

  const cause = { controller: "follower", key: "default/traced", reason: "Added", revision };
  await transport.request({ ...MAPS, verb: "patch", name: "traced", patch: { type: "merge", value: { data: { a: "b" } } }, cause });
  const follower = await prints("by follower (Added)");
  stop.abort();
  await ended;

  equal(follower.includes("  patch configmaps default/traced"), true);
});

class Lines {
  readonly #lines: string[] = [];
  #wake: () => void = () => undefined;

  add(line: string): void {
    this.#lines.push(line);
    this.#wake();
  }

  async has(text: string): Promise<string> {
    for (;;) {
      const found = this.#lines.find((line) => line.includes(text));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
