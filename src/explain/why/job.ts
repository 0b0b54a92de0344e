/** A Job that failed, is suspended, or has Pods that do not run; a CronJob that is suspended. */
import { conditionOf, defineExplainer, found, nameOf, patch, subjectOf } from "./explainer.ts";

export const job = defineExplainer({
  resources: ["jobs.batch", "cronjobs.batch"],
  explain(object, subject, { view, explain }) {
    if (object.spec.suspend === true) {
      const cause = { text: "it is suspended (spec.suspend)", root: "Suspended" };
      return found({ text: `${nameOf(subject)} starts nothing`, because: [cause] }, [
        { text: "Resume it", changes: [patch(subject, { spec: { suspend: false } })] },
      ]);
    }
    if (subject.resource === "cronjobs.batch" || conditionOf(object, "Complete")?.status === "True") return undefined;
    const pods = view.ownedBy(object, "pods");
    const failed = conditionOf(object, "Failed");
    const explained = pods.flatMap((pod) => explain(subjectOf("pods", pod)) ?? []);
    if (failed?.status === "True") {
      const last = explained.at(-1);
      const below =
        last === undefined
          ? [{ text: "its Pods do not exist any more: why they failed is not known", isUnknown: true as const }]
          : [last.finding];
      return found({
        text: `${nameOf(subject)} failed at ${failed.lastTransitionTime}`,
        because: [{ text: `${failed.reason}: ${failed.message}`, root: failed.reason, because: below }],
      });
    }
    const [first] = explained;
    if (first !== undefined) return found({ text: `${nameOf(subject)} is not complete`, because: [first.finding] }, first.remedies);
    return undefined;
  },
});
