/**
 * apiextensions.k8s.io/v1 CustomResourceDefinition: a user-defined kind, with names, versions and schemas. Not here: accepting its names,
 * serving its objects, and deleting these before it is removed (apiserver).
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, withChanges, withMembersOf } from "../../changes.ts";
import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
} from "../../generated/apiextensions.k8s.io/v1.ts";
import { createdAtColumn, nameColumn } from "../../machinery/columns.ts";
import { withCondition } from "../../machinery/conditions.ts";
import { defineResource } from "../../machinery/resource.ts";
import { absentList } from "../../members.ts";
import { definitionFromV1beta1 } from "./custom-resource-definition/from-v1beta1.ts";
import { schemasOf } from "./custom-resource-definition/shared-form.ts";
import { validateDefinition, validateStatus } from "./custom-resource-definition/validate.ts";
import { isSupportedFormat } from "./schema/formats.ts";
import { someSchema } from "./schema/json-schema.ts";

export const customResourceDefinitions = defineResource<CustomResourceDefinition>({
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  singular: "customresourcedefinition",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "apiextensions.k8s.io",
      version: "v1",
      schema: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
      defaults: defaultDefinition,
    },
  ],
  olderStorage: [{ version: "v1beta1", upgrade: definitionFromV1beta1 }],
  unconditionalUpdate: false,
  // Its own cleanup finalizer has no path.
  allowsPlainFinalizers: true,

  beginDeletion: terminating,
  prepareForCreate: (definition) => withStoredVersion({ ...definition, status: NO_STATUS }),
  prepareForUpdate: (next, previous) => withStoredVersion(withMembersOf(next, previous, "status")),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  validate: validateDefinition,
  *warnings({ spec }, previous) {
    const before = new Set(previous === undefined ? [] : unknownFormats(previous.spec));
    for (const format of unknownFormats(spec)) if (!before.has(format)) yield `unrecognized format ${JSON.stringify(format)}`;
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withMembersOf(next, previous, "spec"),
      validateUpdate: ({ status }) => validateStatus(status),
    },
  },

  columns: [nameColumn, createdAtColumn],
});

const WEBHOOK_PORT = 443;
const NO_STATUS: CustomResourceDefinitionStatus = { conditions: absentList, acceptedNames: { plural: "", kind: "" } };

function defaultDefinition(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { spec, status } = definition;
  return withChanges(definition, { spec: defaultSpec(spec), status: defaultStatus(spec, status ?? NO_STATUS) });
}

function defaultStatus({ versions }: CustomResourceDefinitionSpec, status: CustomResourceDefinitionStatus): CustomResourceDefinitionStatus {
  const storage = versions?.find((version) => version.storage)?.name;
  const isStored = (status.storedVersions ?? []).length > 0;
  return withChanges(status, {
    conditions: status.conditions ?? absentList,
    storedVersions: isStored || storage === undefined ? undefined : [storage],
  });
}

function defaultSpec(spec: CustomResourceDefinitionSpec): CustomResourceDefinitionSpec {
  const { names, conversion = { strategy: "None" } } = spec;
  return withChanges(spec, { names: defaultNames(names), conversion: defaultConversion(conversion) });
}

function defaultNames(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  const { kind, singular = kind.toLowerCase(), listKind = `${kind}List` } = names;
  return kind === "" ? names : withChanges(names, { singular, listKind });
}

function defaultConversion(conversion: CustomResourceConversion): CustomResourceConversion {
  const webhook = changed(conversion.webhook, (given) => {
    const clientConfig = changed(given.clientConfig, (config) =>
      withChanges(config, { service: changed(config.service, (service) => withChanges(service, { port: service.port ?? WEBHOOK_PORT })) }),
    );
    return withChanges(given, { clientConfig });
  });
  return withChanges(conversion, { webhook });
}

/** The API server removes it when all objects of the kind are deleted. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

function terminating(definition: CustomResourceDefinition, nowMs: number): CustomResourceDefinition {
  const { metadata, status = NO_STATUS } = definition;
  const { finalizers = [] } = metadata;
  const pending = {
    type: "Terminating",
    status: "True",
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  return {
    ...definition,
    metadata: finalizers.includes(CLEANUP_FINALIZER) ? metadata : { ...metadata, finalizers: [...finalizers, CLEANUP_FINALIZER] },
    status: { ...status, conditions: withCondition<CustomResourceDefinitionCondition>(status.conditions, pending, nowMs) },
  };
}

/** From now on objects may be stored in the storage version. */
function withStoredVersion(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { spec, status = NO_STATUS } = definition;
  const storage = spec.versions?.find((version) => version.storage)?.name;
  const { storedVersions = [] } = status;
  if (storage === undefined || storedVersions.includes(storage)) return definition;
  return { ...definition, status: { ...status, storedVersions: [...storedVersions, storage] } };
}

/** Unrecognized formats, as often as they occur. */
function unknownFormats(spec: CustomResourceDefinitionSpec): readonly string[] {
  const found: string[] = [];
  for (const schema of schemasOf(spec)) {
    someSchema(schema, ({ format = "", type = "" }) => {
      if (format !== "" && !isSupportedFormat(format, type)) found.push(format);
      return false;
    });
  }
  return found;
}
