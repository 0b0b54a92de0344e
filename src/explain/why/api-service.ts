/** An APIService whose server does not answer. */
import type { Subject } from "./cluster-view.ts";
import { conditionOf, defineExplainer, found, nameOf, since } from "./explainer.ts";

export const apiService = defineExplainer({
  resources: ["apiservices.apiregistration.k8s.io"],
  explain(object, subject, { explain }) {
    const available = conditionOf(object, "Available");
    if (available?.status !== "False") return undefined;
    const text = `${nameOf(subject)} is not available${since(available.lastTransitionTime)}`;
    const { service } = object.spec;
    const target: Subject | undefined = service && { resource: "services", namespace: service.namespace, name: service.name };
    const explained = target === undefined ? undefined : explain(target);
    const said = `${available.reason}: ${available.message}`;
    // A Service without a problem of its own: the server behind it answers wrongly, or its certificate is not accepted.
    if (explained === undefined) return found({ text, because: [{ text: said, root: String(available.reason) }] });
    const remedies = explained.remedies.map((remedy) => ({ ...remedy, goal: remedy.goal ?? target ?? subject }));
    return found({ text, because: [{ text: said, because: [explained.finding] }] }, remedies);
  },
});
