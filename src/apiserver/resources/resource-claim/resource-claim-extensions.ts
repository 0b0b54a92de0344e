/**
 * ResourceClaims and templates with admin access: allowed by a label of their namespace. And authorization of parts of a claim's status
 * (status-access.ts).
 */
import { validateAdminAccess, validateAdminAccessOfStatus } from "../../../api/resource.k8s.io/v1/resource-claim/admin-access.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../../api/generated/resource.k8s.io/v1.ts";
import { internalFieldError, type FieldError } from "../../../api/machinery/field-error.ts";
import type { CheckedWrite } from "../../framework/extension.ts";
import type { ExtensionFactory, ServerContext } from "../../framework/server-context.ts";
import { validateStatusAccess } from "./status-access.ts";

const GROUP = "resource.k8s.io";

export const resourceClaimExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "resourceclaims",
  async validate(write) {
    const claim = write.object as ResourceClaim;
    const before = write.previous as ResourceClaim | undefined;
    const { status = {} } = claim;
    if (before === undefined) return inNamespace(server, write, (labels) => validateAdminAccess(claim.spec.devices?.requests, labels));
    if (write.subresource !== "status") return [];
    const ofNamespace = await inNamespace(server, write, (labels) => validateAdminAccessOfStatus(status, before.status ?? {}, labels));
    return [...ofNamespace, ...validateStatusAccess(server.authorizer, write)];
  },
});

export const resourceClaimTemplateExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "resourceclaimtemplates",
  async validate(write) {
    if (write.previous !== undefined) return [];
    const { spec } = write.object as ResourceClaimTemplate;
    return inNamespace(server, write, (labels) => validateAdminAccess(spec.spec.devices?.requests, labels));
  },
});

type LabelRule = (labels: Readonly<Record<string, string>>) => Iterable<FieldError>;

/** The namespace is read only if a rule needs it. */
async function inNamespace({ endpoints }: ServerContext, { object }: CheckedWrite, rule: LabelRule): Promise<Iterable<FieldError>> {
  if ([...rule({})].length === 0) return [];
  const name = object.metadata.namespace ?? "";
  const namespace = await endpoints.stored("", "namespaces")?.storage.get({ namespace: "", name });
  if (namespace !== undefined) return rule(namespace.object.metadata.labels ?? {});
  const why = `could not retrieve namespace to verify admin access: namespaces ${JSON.stringify(name)} not found`;
  return [internalFieldError("", why)];
}
