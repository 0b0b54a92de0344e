/** Cost of admission by others: of policies that do not match and that do, beside a server without any; of a webhook call beside bare HTTPS. */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { AdmissionTasks, PolicyKind } from "./admission-child.ts";

/** Per round: short rounds, and many, since the difference is small. */
const CREATES = 1_000;
const CALLS = 300;
const ROUNDS = 9;

/** Policies for other resources may cost this much of a create. */
const OTHER_MAX = 1.05;

export const extensionAdmission: Benchmark = {
  name: "extension/admission",
  measures:
    "a create with 50 policies that do not match and 10 that do, beside one without policies; a webhook call beside a bare HTTPS request",
  async *run({ signal, rounds }) {
    await using children = new Disposables();
    const child = children.use(startChild<AdmissionTasks>(import.meta.url, "admission-child", signal));
    const kinds: readonly PolicyKind[] = ["none", "other", "matching"];
    for (const kind of kinds) await child.call("start", kind);
    const creates = (kind: PolicyKind) => () => child.call("creates", { kind, count: CREATES });
    const { none, other, matching } = await rounds.measure(
      { none: creates("none"), other: creates("other"), matching: creates("matching") },
      ROUNDS,
    );
    const budget = { atMost: OTHER_MAX };
    yield figureOf({ name: "extension-create-50-other-policies", unit: "µs", values: other, baselines: none, budget });
    yield figureOf({ name: "extension-create-10-matching-policies", unit: "µs", values: matching, baselines: none });
    await child.call("startHook", null);
    const calls = (isBare: boolean) => () => child.call("calls", { isBare, count: CALLS });
    const { webhook, bare } = await rounds.measure({ webhook: calls(false), bare: calls(true) }, ROUNDS);
    yield figureOf({ name: "extension-webhook-call", unit: "µs", values: webhook, baselines: bare });
  },
};
