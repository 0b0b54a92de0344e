/**
 * resource.k8s.io/v1 ResourceClaimTemplate: the claim that is created for each Pod that names the template. It is immutable, so that Pods
 * of one template have equal claims.
 *
 * Not here: creating the claims (controllers/resource-claim), and rules that need the namespace (resource-claim/admin-access.ts).
 */
import { deepEqual } from "../../../base/deep.ts";
import { withChanges } from "../../changes.ts";
import { validateTemplateMetadata } from "../../core/v1/pod/validation/claim-template.ts";
import type { ResourceClaimTemplate, ResourceClaimTemplateSpec } from "../../generated/resource.k8s.io/v1.ts";
import { ageColumn, nameColumn } from "../../machinery/columns.ts";
import { immutable } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { isObject, type Json, type JsonObject } from "../../machinery/object.ts";
import { defineResource } from "../../machinery/resource.ts";
import { sortedMembers } from "../../members.ts";
import { schemaOf } from "../../schemas.ts";
import { internalForm } from "./internal-form.ts";
import { defaultClaimSpec } from "./resource-claim/defaults.ts";
import { validateClaimSpec } from "./resource-claim/validate-spec.ts";

const METADATA = schemaOf("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

export const resourceClaimTemplates = defineResource<ResourceClaimTemplate>({
  kind: "ResourceClaimTemplate",
  plural: "resourceclaimtemplates",
  singular: "resourceclaimtemplate",
  scope: "Namespaced",
  served: [{ group: "resource.k8s.io", version: "v1", schema: "io.k8s.api.resource.v1.ResourceClaimTemplate", defaults: defaultTemplate }],

  returnsDeletedObject: true,

  *validate({ spec }, previous) {
    if (previous !== undefined) {
      // Immutable fields are not validated again: rules may have become stricter.
      if (!deepEqual(spec, previous.spec)) yield immutable("spec", formOf(spec));
      return;
    }
    yield* errorsOf((errors) => validateTemplateMetadata(errors, spec.metadata ?? {}, "spec.metadata"));
    yield* validateClaimSpec(spec.spec, "spec.spec");
  },

  columns: [nameColumn, ageColumn],
});

function defaultTemplate(template: ResourceClaimTemplate): ResourceClaimTemplate {
  const { spec } = template;
  return withChanges(template, { spec: withChanges(spec, { spec: defaultClaimSpec(spec.spec) }) });
}

/** Metadata is the one type that messages show in API form, and upstream has its fields beside the claim's. */
function formOf({ metadata = {}, spec }: ResourceClaimTemplateSpec): Json {
  const members = [...METADATA.fields.keys()].filter((name) => Object.hasOwn(metadata, name));
  const shown = members.map((name): [string, Json] => [name, shownMember((metadata as JsonObject)[name] ?? null)]);
  return { ...Object.fromEntries(shown), Spec: internalForm(spec, "io.k8s.api.resource.v1.ResourceClaimSpec") };
}

/** Labels and annotations are sorted by key. */
function shownMember(member: Json): Json {
  return isObject(member) ? (sortedMembers(member) ?? {}) : member;
}
