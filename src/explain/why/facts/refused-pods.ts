/** Why the API server refuses the Pods of a workload, by the message of the refusal: quota, service account, classes, Pod Security, webhooks. */
import { addQuantities, compareQuantities, formatQuantity, multiplyQuantity, parseQuantity } from "../../../api/machinery/quantity.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Seen, Subject } from "../cluster-view.ts";
import {
  found,
  nameOf,
  patch,
  type Change,
  type ExplainContext,
  type Explanation,
  type Finding,
  type Manifest,
  type Remedy,
} from "../explainer.ts";
import { podSpecChanges } from "../pod-template.ts";

/** A refusal that is being explained. */
interface Refused {
  readonly message: string;
  /** Creates the Pods. */
  readonly owner: Seen;
  /** Has the template of the Pods, and must be healthy afterwards. */
  readonly goal: Subject;
  readonly context: ExplainContext;
  readonly match: RegExpExecArray;
}

interface Reading {
  readonly pattern: RegExp;
  explain(refused: Refused): Explanation;
}

/** The first that matches explains the message. */
const READINGS: readonly Reading[] = [
  { pattern: /serviceaccount "([^"]+)" not found/, explain: missingAccount },
  { pattern: /exceeded quota: ([^,]+)/, explain: exceededQuota },
  { pattern: /failed quota: ([^:]+): must specify (.*)/, explain: unspecifiedResources },
  { pattern: /RuntimeClass "([^"]+)" not found/, explain: missingRuntimeClass },
  { pattern: /no PriorityClass with name (\S+) was found/, explain: missingPriorityClass },
  { pattern: /violates PodSecurity/, explain: podSecurity },
  { pattern: /failed calling webhook "([^"]+)"/, explain: silentWebhook },
  {
    pattern: /admission webhook "([^"]+)"/,
    explain: ({ match }) => found({ text: `admission webhook ${match[1]} refuses them`, root: "AdmissionWebhook" }),
  },
  {
    pattern: /ValidatingAdmissionPolicy '([^']+)'/,
    explain: ({ match }) => found({ text: `ValidatingAdmissionPolicy ${match[1]} refuses them`, root: "AdmissionPolicy" }),
  },
  { pattern: /maximum (\S+) usage per Container is (\S+), but (?:limit|request) is/, explain: aboveLimitRange },
  { pattern: /maximum|minimum/, explain: () => found({ text: "a LimitRange of the namespace refuses them", root: "LimitRange" }) },
];

/** `owner`: creates the Pods. `goal`: has their template, and must be healthy afterwards. */
export function refusedPods(message: string, owner: Seen, goal: Subject, context: ExplainContext): Explanation {
  for (const { pattern, explain } of READINGS) {
    const match = pattern.exec(message);
    if (match !== null) return explain({ message, owner, goal, context, match });
  }
  return found({ text: "the message is all that is known", root: "FailedCreate" });
}

function missingAccount({ match, owner, goal }: Refused): Explanation {
  const account = match[1] ?? "";
  const metadata = { namespace: owner.metadata.namespace, name: account.split("/").at(-1) ?? account };
  const object: Manifest = { apiVersion: "v1", kind: "ServiceAccount", metadata };
  return found({ text: `service account ${account} does not exist`, root: "MissingServiceAccount" }, [
    { text: "Create the service account", changes: [{ type: "create", object }], goal },
  ]);
}

function missingRuntimeClass({ match, goal, context }: Refused): Explanation {
  const changes = templateChanges(goal, context, { runtimeClassName: undefined, overhead: undefined });
  return found({ text: `RuntimeClass ${match[1]} does not exist`, root: "MissingRuntimeClass" }, [
    { text: "Use the default runtime", changes, goal },
  ]);
}

function missingPriorityClass({ match, goal, context }: Refused): Explanation {
  const changes = templateChanges(goal, context, { priorityClassName: undefined });
  return found({ text: `PriorityClass ${match[1]} does not exist`, root: "MissingPriorityClass" }, [
    { text: "Use the default priority", changes, goal },
  ]);
}

function templateChanges(goal: Subject, { view }: ExplainContext, members: Readonly<Record<string, undefined>>): readonly Change[] {
  return podSpecChanges({ subject: goal, object: view.get(goal), isPod: false }, members);
}

/** What a container without a request is given, so that a quota can count it. */
const PLACEHOLDERS: Readonly<Record<string, string>> = { cpu: "100m", memory: "128Mi", "ephemeral-storage": "1Gi" };

/** "limits.cpu for: c,d; requests.memory for: c" */
function unspecifiedResources({ match, goal }: Refused): Explanation {
  const [, quota = "", list = ""] = match;
  const cause = { text: `ResourceQuota ${quota} counts ${list}: their containers must specify it`, root: "QuotaRequiresResources" };
  const containers = new Map<string, Record<string, JsonObject>>();
  for (const part of list.split("; ")) {
    const [resource = "", names = ""] = part.split(" for: ");
    const [limitsOrRequests = "", name = resource] = resource.includes(".") ? resource.split(/\.(.*)/) : ["requests", resource];
    const amount = PLACEHOLDERS[name];
    if (amount === undefined || names === "") return found(cause);
    for (const container of names.split(",")) {
      const resources = containers.get(container) ?? {};
      containers.set(container, { ...resources, [limitsOrRequests]: { ...resources[limitsOrRequests], [name]: amount } });
    }
  }
  const specified = [...containers].map(([name, resources]) => ({ name, resources }));
  const changes: readonly Change[] = [
    { type: "patch", target: goal, patchType: "strategic", patch: { spec: { template: { spec: { containers: specified } } } } },
  ];
  return found(cause, [{ text: "Specify them; the amounts are placeholders, since what the containers need is not known", changes, goal }]);
}

const CONFIGURATIONS = ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"].map(
  (plural) => `${plural}.admissionregistration.k8s.io`,
);

/** A webhook that must answer and does not: by its Service, if it has one. */
function silentWebhook({ match, context: { view, explain } }: Refused): Explanation {
  const name = match[1] ?? "";
  const configured = CONFIGURATIONS.filter((resource) => view.isReadable(resource)).flatMap((resource) =>
    view
      .list(resource)
      .flatMap((configuration) =>
        (configuration.webhooks ?? [])
          .filter((webhook: Seen) => webhook.name === name)
          .map((webhook: Seen) => ({ webhook, subject: { resource, namespace: "", name: configuration.metadata.name as string } })),
      ),
  ) as readonly { readonly webhook: Seen; readonly subject: Subject }[];
  const [first] = configured;
  if (first === undefined) return found({ text: `admission webhook ${name} does not answer`, root: "WebhookUnavailable" });
  const text = `admission webhook ${name} of ${nameOf(first.subject)} does not answer, and its failurePolicy is ${first.webhook.failurePolicy}`;
  const { service } = first.webhook.clientConfig ?? {};
  const explained = service && explain({ resource: "services", namespace: service.namespace, name: service.name });
  const below: readonly Finding[] = explained === undefined ? [] : [explained.finding];
  return found({ text, root: "WebhookUnavailable", because: below });
}

/** The containers that exceed the maximum get it. */
function aboveLimitRange({ match, goal, context: { view } }: Refused): Explanation {
  const [, resource = "", maximum = "0"] = match;
  const isAbove = (amount: Seen) => amount !== undefined && compareQuantities(parseQuantity(String(amount)), parseQuantity(maximum)) > 0;
  const containers: readonly Seen[] = view.get(goal)?.spec?.template?.spec?.containers ?? [];
  const lowered = containers.flatMap(({ name, resources = {} }) => {
    const changed = Object.fromEntries(
      ["limits", "requests"].flatMap((kind) => (isAbove(resources[kind]?.[resource]) ? [[kind, { [resource]: maximum }]] : [])),
    );
    return Object.keys(changed).length === 0 ? [] : [{ name, resources: changed }];
  });
  const cause = { text: `a LimitRange of the namespace allows at most ${maximum} of ${resource} per container`, root: "LimitRange" };
  if (lowered.length === 0) return found(cause);
  const changes: readonly Change[] = [
    { type: "patch", target: goal, patchType: "strategic", patch: { spec: { template: { spec: { containers: lowered } } } } },
  ];
  return found(cause, [{ text: `Use at most ${maximum} of ${resource}, if that is enough`, changes, goal }]);
}

/** Raises the limits by what all missing Pods request. */
function exceededQuota({ message, match, owner, goal, context: { view } }: Refused): Explanation {
  const name = match[1] ?? "";
  const target = { resource: "resourcequotas", namespace: owner.metadata.namespace as string, name };
  const quota = view.get(target);
  const [, requested = "", used = ""] = /requested: (.*?), used: (.*?), limited:/.exec(message) ?? [];
  const amounts = (list: string) => new Map(list.split(",").map((part) => part.split("=") as [string, string]));
  const wanted: number = owner.spec.replicas ?? owner.spec.parallelism ?? 1;
  const missing = Math.max(wanted - view.ownedBy(owner, "pods").length, 1);
  const usedNow = amounts(used);
  const hard = Object.fromEntries(
    [...amounts(requested)].map(([resource, amount]) => {
      const counted = parseQuantity(quota?.status?.used?.[resource] ?? usedNow.get(resource) ?? "0");
      return [resource, formatQuantity(addQuantities(counted, multiplyQuantity(parseQuantity(amount), missing)))];
    }),
  );
  const cause = { text: `ResourceQuota ${name} is exhausted`, root: "ExceededQuota" };
  return found(cause, [{ text: "Raise the quota to what its Pods need", changes: [patch(target, { spec: { hard } })], goal }]);
}

/** The next weaker level that allows the Pods. */
function podSecurity({ message, owner, goal }: Refused): Explanation {
  const target = { resource: "namespaces", namespace: "", name: owner.metadata.namespace as string };
  const levels = message.includes('PodSecurity "restricted') ? ["baseline", "privileged"] : ["privileged"];
  const remedies: readonly Remedy[] = levels.map((level) => ({
    text: `Allow level ${level} in the namespace`,
    changes: [patch(target, { metadata: { labels: { "pod-security.kubernetes.io/enforce": level } } })],
    goal,
  }));
  return found({ text: "the namespace's Pod Security level forbids them", root: "PodSecurity" }, remedies);
}
