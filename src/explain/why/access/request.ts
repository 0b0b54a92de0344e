/** A refused request: `k8ts why --request ID`, by the Audit-Id of its response. */
import type { CauseItem } from "../../explain-api.ts";
import { budgetsOf } from "../disruption-budget.ts";
import { defineExplainer, found, type Finding, type Remedy, type RequestedAccess, type Manifest } from "../explainer.ts";
import { uselessBindings } from "./role-binding.ts";

export const request = defineExplainer({
  resources: ["requests"],
  explain(_object, { name: id }, context) {
    const { view, explain } = context;
    const items = view.recordedCauses().filter(({ requestID }) => requestID === id);
    const refused = items.find(({ refusal }) => refusal !== undefined);
    if (refused?.refusal === undefined)
      return items.length > 0
        ? undefined
        : found({
            text: `request ${id} is not known`,
            because: [{ text: "no record of it is kept: it was not refused, or too long ago", isUnknown: true }],
          });
    const { code, reason, message, stage, plugin } = refused.refusal;
    const what = [refused.verb, refused.resource, refused.subresource, refused.namespace, refused.name]
      .filter((word) => word !== undefined)
      .join(" ");
    const text = `the request of ${refused.user} (${what}) at ${refused.time} was refused with ${code} ${reason}`;
    if (stage === "authorization") {
      const useless = uselessBindings(refused.user, refused.namespace ?? "", context);
      const because = useless.map(({ finding }) => finding);
      const cause: Finding = { text: `no role grants it: ${message}`, root: "Forbidden", ...(because.length === 0 ? {} : { because }) };
      const grants = grant(refused);
      const { access } = grants;
      const corrected = useless.flatMap(({ remedies }) =>
        remedies.map((each) => ({ ...each, ...(access === undefined ? {} : { access }) })),
      );
      return found({ text, because: [cause] }, [...corrected, grants]);
    }
    if (reason === "TooManyRequests" && refused.subresource === "eviction") {
      const target = { resource: "pods", namespace: refused.namespace ?? "", name: refused.name ?? "" };
      for (const budget of budgetsOf(target, view)) {
        const explained = explain(budget);
        if (explained === undefined) continue;
        const remedies = explained.remedies.map((remedy) => ({ ...remedy, goal: budget }));
        return found({ text, because: [{ text: message, because: [explained.finding] }] }, remedies);
      }
      return found({ text, because: [{ text: message, root: "DisruptionBudget" }] });
    }
    const by =
      stage === "admission" ? `admission plugin ${plugin}` : reason === "Conflict" ? "the object changed since it was read" : "validation";
    return found({ text, because: [{ text: `${by}: ${message}`, root: stage === "admission" ? (plugin ?? "Admission") : reason }] });
  },
});

/** A role with exactly this permission, bound to this user. */
function grant(item: CauseItem): Remedy {
  const [plural = "", ...groupParts] = item.resource.split(".");
  const group = groupParts.join(".");
  const { namespace = "", name = "", subresource = "", verb, user } = item;
  const resource = subresource === "" ? plural : `${plural}/${subresource}`;
  const kind = namespace === "" ? "ClusterRole" : "Role";
  const roleName = `allow-${verb}-${plural}`;
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = { name: roleName, ...(namespace === "" ? {} : { namespace }) };
  const role: Manifest = { apiVersion, kind, metadata, rules: [{ apiGroups: [group], resources: [resource], verbs: [verb] }] };
  const binding: Manifest = {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { ...metadata, name: `${roleName}-${user.replace(/[^a-z0-9.-]/g, "-")}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  };
  const access: RequestedAccess = { user, groups: [], verb, group, resource: plural, subresource, namespace, name };
  return {
    text: `Grant ${user} this permission only, if they should have it`,
    changes: [
      { type: "create", object: role },
      { type: "create", object: binding },
    ],
    access,
  };
}
