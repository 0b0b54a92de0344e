/** A Job that failed, is suspended, or has Pods that do not run; a CronJob that starts nothing, or whose last Job is in trouble. */
import type { Seen, Subject } from "./cluster-view.ts";
import { conditionOf, defineExplainer, found, nameOf, patch, subjectOf, type ExplainContext, type Explanation } from "./explainer.ts";
import { refusedPods } from "./facts/refused-pods.ts";

export const job = defineExplainer({
  resources: ["jobs.batch", "cronjobs.batch"],
  explain(object, subject, context) {
    if (object.spec.suspend === true) {
      const cause = { text: "it is suspended (spec.suspend)", root: "Suspended" };
      return found({ text: `${nameOf(subject)} starts nothing`, because: [cause] }, [
        { text: "Resume it", changes: [patch(subject, { spec: { suspend: false } })] },
      ]);
    }
    if (subject.resource === "cronjobs.batch") return cronJobProblem(object, subject, context);
    if (conditionOf(object, "Complete")?.status === "True") return undefined;
    return conditionOf(object, "Failed")?.status === "True" ? failedJob(object, subject, context) : unfinishedJob(object, subject, context);
  },
});

function podProblems(object: Seen, { view, explain }: ExplainContext): readonly Explanation[] {
  return view.ownedBy(object, "pods").flatMap((pod) => explain(subjectOf("pods", pod)) ?? []);
}

/** Reasons that say all: no Pod has failed. */
const COMPLETE_REASONS = ["DeadlineExceeded"];

function failedJob(object: Seen, subject: Subject, context: ExplainContext): Explanation {
  const failed = conditionOf(object, "Failed");
  const last = podProblems(object, context).at(-1);
  const below =
    last !== undefined
      ? [last.finding]
      : COMPLETE_REASONS.includes(failed.reason)
        ? [{ text: `spec.activeDeadlineSeconds is ${object.spec.activeDeadlineSeconds}` }]
        : [{ text: "its Pods do not exist any more: why they failed is not known", isUnknown: true as const }];
  return found({
    text: `${nameOf(subject)} failed at ${failed.lastTransitionTime}`,
    because: [{ text: `${failed.reason}: ${failed.message}`, root: failed.reason, because: below }],
  });
}

function unfinishedJob(object: Seen, subject: Subject, context: ExplainContext): Explanation | undefined {
  const text = `${nameOf(subject)} is not complete`;
  const [first] = podProblems(object, context);
  if (first !== undefined) return found({ text, because: [first.finding] }, first.remedies);
  if (object.spec.parallelism === 0) {
    const cause = { text: "it runs no Pods at a time (spec.parallelism)", root: "NoParallelism" };
    return found({ text, because: [cause] }, [{ text: "Run one at a time", changes: [patch(subject, { spec: { parallelism: 1 } })] }]);
  }
  const message: string | undefined = context.view.event(object, ["FailedCreate"])?.message;
  if (message === undefined || context.view.ownedBy(object, "pods").length > 0) return undefined;
  const { finding, remedies } = refusedPods(message, object, subject, context);
  return found({ text, because: [{ text: `the API server refuses its Pods: ${message}`, because: [finding] }] }, remedies);
}

/** Events of a CronJob that starts nothing. */
const NOT_STARTED = ["UnparseableSchedule", "InvalidSchedule", "UnknownTimeZone", "TooManyMissedTimes", "MissSchedule", "FailedCreate"];

/** Its last Job in trouble; one that still runs keeps the next from starting if concurrency is forbidden. */
function cronJobProblem(object: Seen, subject: Subject, { view, explain }: ExplainContext): Explanation | undefined {
  const jobs = view.ownedBy(object, "jobs.batch").toSorted((a, b) => startOf(a) - startOf(b));
  const last = jobs.at(-1);
  const explained = last === undefined ? undefined : explain(subjectOf("jobs.batch", last));
  if (explained !== undefined) return found({ text: `the last Job of ${nameOf(subject)} is in trouble`, because: [explained.finding] });
  if (last !== undefined && object.spec.concurrencyPolicy === "Forbid" && view.event(object, ["JobAlreadyActive"]) !== undefined) {
    const isActive = !["Complete", "Failed"].some((type) => conditionOf(last, type)?.status === "True");
    if (isActive) return overlapping(subject, last);
  }
  const event = last === undefined ? view.event(object, NOT_STARTED) : undefined;
  if (event === undefined) return undefined;
  return found({ text: `${nameOf(subject)} starts nothing`, because: [{ text: event.message, root: String(event.reason) }] });
}

/** A Job that takes longer than the schedule allows. */
function overlapping(subject: Subject, running: Seen): Explanation {
  const text = `its Job ${running.metadata.name} runs since ${running.metadata.creationTimestamp}, and concurrencyPolicy is Forbid`;
  return found({ text: `${nameOf(subject)} has skipped a run`, because: [{ text, root: "JobAlreadyActive" }] }, [
    { text: "Replace a Job that still runs by the next one", changes: [patch(subject, { spec: { concurrencyPolicy: "Replace" } })] },
  ]);
}

function startOf({ metadata }: Seen): number {
  return Date.parse(metadata.creationTimestamp) || 0;
}
