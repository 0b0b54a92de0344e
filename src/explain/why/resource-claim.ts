/** A ResourceClaim without devices: its class, its driver, or what the scheduler says about the Pod that uses it. And those of one Pod. */
import type { Seen, Subject } from "./cluster-view.ts";
import { conditionOf, defineExplainer, found, nameOf, type ExplainContext, type Explanation, type Finding } from "./explainer.ts";
import { similarName } from "./facts/similar-name.ts";

const CLAIMS = "resourceclaims.resource.k8s.io";
const TEMPLATES = "resourceclaimtemplates.resource.k8s.io";

export const resourceClaim = defineExplainer({
  resources: [CLAIMS],
  explain(claim, subject, context) {
    if (claim.status?.allocation !== undefined) return undefined;
    const text = `${nameOf(subject)} has no devices`;
    const missing = missingClasses(claim, context);
    if (missing.length > 0) return found({ text, because: missing });
    const { view } = context;
    const users = view.list("pods", subject.namespace).filter((pod) => claimNamesOf(pod).includes(subject.name));
    if (users.length === 0)
      return found({ text, because: [{ text: "no Pod uses it: devices are allocated for the first one", root: "NoConsumer" }] });
    if (view.list("resourceslices.resource.k8s.io").length === 0)
      return found({ text, because: [{ text: "no driver has published devices (there are no ResourceSlices)", root: "NoDevices" }] });
    const message = users.map((pod) => conditionOf(pod, "PodScheduled")?.message).find(Boolean);
    return found({ text, because: [message === undefined ? UNDECIDED : { text: message, root: "DevicesUnavailable" }] });
  },
});

const UNDECIDED: Finding = { text: "the scheduler has not decided yet", isUnknown: true };

/** A request with alternatives is satisfiable while one of their classes exists. */
function missingClasses(claim: Seen, { view }: ExplainContext): readonly Finding[] {
  const classes = view.list("deviceclasses.resource.k8s.io").map(({ metadata }) => String(metadata.name));
  return (claim.spec.devices?.requests ?? []).flatMap(({ name, exactly, firstAvailable = [] }: Seen): readonly Finding[] => {
    const wanted: readonly string[] = [exactly, ...firstAvailable].flatMap((each: Seen) => each?.deviceClassName ?? []);
    if (wanted.length === 0 || wanted.some((each) => classes.includes(each))) return [];
    const similar = wanted.map((each) => similarName(each, classes)).find(Boolean);
    const hint = similar === undefined ? "" : `; a similar name exists: ${similar}`;
    return [{ text: `the DeviceClass ${wanted.join(", ")} of its request ${name} does not exist${hint}`, root: "MissingDeviceClass" }];
  });
}

/** Those that exist by name: a claim of a template has one when it was created. */
function claimNamesOf(pod: Seen): readonly string[] {
  const generated: readonly Seen[] = pod.status?.resourceClaimStatuses ?? [];
  return (pod.spec.resourceClaims ?? []).flatMap(
    ({ name, resourceClaimName }: Seen) => resourceClaimName ?? generated.find((each) => each.name === name)?.resourceClaimName ?? [],
  );
}

/** What keeps the claims of a Pod without a node from being allocated. */
export function deviceProblems(pod: Seen, { view, explain }: ExplainContext): readonly Explanation[] {
  const { namespace } = pod.metadata;
  const missing = (pod.spec.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }: Seen) => {
    const template: Subject = { resource: TEMPLATES, namespace, name };
    if (name === undefined || view.get(template) !== undefined) return [];
    return [found({ text: `${nameOf(template)}, from which its claim is created, does not exist`, root: "MissingResourceClaimTemplate" })];
  });
  const explained = claimNamesOf(pod).flatMap((name) => {
    const claim: Subject = { resource: CLAIMS, namespace, name };
    if (view.get(claim) === undefined)
      return [found({ text: `${nameOf(claim)}, which the Pod uses, does not exist`, root: "MissingResourceClaim" })];
    return explain(claim) ?? [];
  });
  return [...missing, ...explained];
}
