/**
 * Builds the resource of a CustomResourceDefinition: the same value that built-in kinds have. Every version brings its own schema,
 * validation, columns and subresources, so each has members of its own, which work on objects of that version. Building one costs little:
 * everything that follows from a schema is computed on first use.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from "../../../generated/apiextensions.k8s.io/v1.ts";
import { validateQualifiedName } from "../../../machinery/names.ts";
import type { Json, JsonObject, KubeObject } from "../../../machinery/object.ts";
import {
  defineResource,
  type Conversion,
  type Resource,
  type SelectableFields,
  type ServedVersion,
  type Subresource,
} from "../../../machinery/resource.ts";
import type { ObjectSchema, SchemaSet } from "../../../machinery/schema.ts";
import { memberAt } from "../../../machinery/selectors/json-path-value.ts";
import { compareVersions } from "../../../machinery/version-order.ts";
import { schemas as builtIn } from "../../../schemas.ts";
import { fillInDefaults } from "../schema/default.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { pruneDefaults } from "../schema/prune-defaults.ts";
import { unstructurable } from "../schema/structural.ts";
import { applySchemaOf } from "./apply-schema.ts";
import { columnsOf } from "./columns.ts";
import { decodeCustomResource, decodeStoredCustomResource } from "./decode.ts";
import { formatGo } from "./go-value.ts";
import { pathOf, scaleOf } from "./scale.ts";
import { type RuleEvaluation, validateCustomResource, validateStatusUpdate, type ValidationOptions, type Warn } from "./validate.ts";

export interface CustomResourceOptions {
  /** Present if the definition has several versions. */
  readonly conversion?: Conversion;
  /** Compiles the validation rules of a schema on first use; undefined if it has none. */
  compileRules?(schema: JsonSchema): RuleEvaluation | undefined;
  /** True while the definition is being deleted: no object may be created then. */
  isTerminating?(): boolean;
}

export interface CustomResource {
  readonly resource: Resource;
  readonly schemas: SchemaSet;
}

const TERMINATING = "create not allowed while custom resource definition is terminating";

export function customResourceOf(definition: CustomResourceDefinition, options: CustomResourceOptions = {}): CustomResource {
  const { spec, status } = definition;
  const { group, versions } = spec;
  const names = status?.acceptedNames ?? spec.names;
  const storage = versions.find((version) => version.storage)?.name ?? "";
  // Versions that are not served are hidden: objects may be stored in one, and managedFields may name one.
  const parts = versions.map((version) => new VersionParts(spec, version, options));
  const { conversion } = options;
  const resource = defineResource({
    kind: names.kind,
    ...(names.listKind === undefined ? {} : { listKind: names.listKind }),
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    scope: spec.scope === "Cluster" ? "Cluster" : "Namespaced",
    served: parts.map((part) => part.served()),
    storage: { group, version: storage },
    ...(conversion === undefined ? {} : { conversion }),
    completesStored: true,
    isTyped: false,
    unconditionalUpdate: false,
    allowsPlainFinalizers: true,
    refusesCreation: () => (options.isTerminating?.() === true ? TERMINATING : undefined),
    columns: [],
  });
  return { resource, schemas: schemaSetOf(parts) };
}

/** Types are built on first use, since most definitions of a cluster are rarely used. */
function schemaSetOf(parts: readonly VersionParts[]): SchemaSet {
  const byName = new Map(parts.map((part) => [part.schemaName, part]));
  return {
    get: (name) => byName.get(name)?.applySchema() ?? builtIn.get(name),
    names: () => byName.keys(),
  };
}

/** "com.example.v1.CronTab": the OpenAPI name of a custom resource's type. */
export function modelName({ group }: CustomResourceDefinitionSpec, version: string, kind: string): string {
  return `${group.split(".").toReversed().join(".")}.${version}.${kind}`;
}

class VersionParts {
  readonly schemaName: string;
  readonly #spec: CustomResourceDefinitionSpec;
  readonly #version: CustomResourceDefinitionVersion;
  readonly #options: CustomResourceOptions;
  readonly #schema: JsonSchema | undefined;
  readonly #preservesUnknown: boolean;
  #defaulting: JsonSchema | undefined;
  #applySchema: ObjectSchema | undefined;
  #rules: { readonly evaluate: RuleEvaluation | undefined } | undefined;

  constructor(spec: CustomResourceDefinitionSpec, version: CustomResourceDefinitionVersion, options: CustomResourceOptions) {
    this.#spec = spec;
    this.#version = version;
    this.#options = options;
    this.#preservesUnknown = spec.preserveUnknownFields === true;
    const schema = version.schema?.openAPIV3Schema;
    // Only definitions that older servers stored can have a schema that is not structural.
    this.#schema = this.#preservesUnknown && unstructurable(schema) !== undefined ? undefined : schema;
    this.schemaName = modelName(spec, version.name, spec.names.kind);
  }

  served(): ServedVersion {
    const { group } = this.#spec;
    const { name, served, selectableFields = [] } = this.#version;
    const decoder = { schema: this.#schema, preservesUnknown: this.#preservesUnknown };
    const deprecation = deprecationOf(this.#spec, this.#version);
    return {
      group,
      version: name,
      schema: this.schemaName,
      ...(served ? {} : { isHidden: true as const }),
      ...(deprecation === undefined ? {} : { deprecation }),
      decode: (value) => decodeCustomResource(value, decoder),
      decodeStored: (value) => decodeStoredCustomResource(value, decoder),
      defaults: (object) => this.#withDefaults(object),
      published: {
        ...(this.#schema === undefined ? {} : { schema: this.#schema }),
        preservesUnknown: this.#preservesUnknown,
        selectableFields: selectableFields.map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
      },
      own: this.#own(),
    };
  }

  applySchema(): ObjectSchema {
    const kind = { group: this.#spec.group, version: this.#version.name, kind: this.#spec.names.kind };
    const root = { name: this.schemaName, kind, schema: this.#schema, preservesUnknown: this.#preservesUnknown };
    return (this.#applySchema ??= applySchemaOf(root));
  }

  #own(): Partial<Resource> {
    const { subresources, additionalPrinterColumns, selectableFields = [] } = this.#version;
    const hasStatus = subresources?.status !== undefined;
    return {
      subresources: this.#subresources(),
      selectableFields: readersOf(selectableFields.map(({ jsonPath }) => jsonPath)),
      columns: columnsOf(additionalPrinterColumns),
      // Without the status that was sent, but with the defaults that the schema has for it.
      prepareForCreate: (object) => (hasStatus ? this.#withDefaults(withStatusOf(object, undefined)) : object),
      prepareForUpdate: (next, previous) => (hasStatus ? withStatusOf(next, previous) : next),
      changesGeneration: (next, previous) => !deepEqual(withoutMetadata(next), withoutMetadata(previous)),
      validate: (object, previous, warn) => validateCustomResource(this.#validation(warn), object, previous),
      warnings: finalizerWarnings,
    };
  }

  #subresources(): Resource["subresources"] {
    const { status, scale } = this.#version.subresources ?? {};
    return {
      ...(status === undefined ? {} : { status: this.#status() }),
      ...(scale === undefined ? {} : { scale: scaleOf(scale) }),
    };
  }

  #status(): Subresource {
    return {
      of: "object",
      verbs: ["get", "patch", "update"],
      // Unlike for built-in kinds, a write of the status changes no metadata.
      prepareForUpdate: (next, previous) => withStatusOf(previous, next),
      ignoredFields: [["metadata"], ["spec"]],
      validateUpdate: (next, previous, warn) => validateStatusUpdate(this.#validation(warn), next, previous),
      warnings: finalizerWarnings,
    };
  }

  #validation(warn?: Warn): ValidationOptions {
    const schema = this.#schema;
    this.#rules ??= { evaluate: schema && this.#options.compileRules?.(schema) };
    return { schema, scale: this.#version.subresources?.scale, evaluateRules: this.#rules.evaluate, warn };
  }

  #withDefaults(object: KubeObject): KubeObject {
    if (this.#schema === undefined || this.#preservesUnknown) return object;
    this.#defaulting ??= pruneDefaults(this.#schema);
    return fillInDefaults(object, this.#defaulting) as KubeObject;
  }
}

function withStatusOf(object: KubeObject, other: KubeObject | undefined): KubeObject {
  const { status, ...rest } = object as KubeObject & { readonly status?: Json };
  const next = (other as { readonly status?: Json } | undefined)?.status;
  if (status === next) return object;
  return next === undefined ? rest : ({ ...object, status: next } as KubeObject);
}

function withoutMetadata(object: KubeObject): JsonObject {
  const { metadata: _metadata, ...rest } = object;
  return rest;
}

function readersOf(paths: readonly string[]): SelectableFields<KubeObject> {
  return Object.fromEntries(
    paths.map((path) => {
      const names = pathOf(path);
      return [names.join("."), (object: KubeObject) => formatGo(memberAt(object, names))];
    }),
  );
}

function deprecationOf(spec: CustomResourceDefinitionSpec, version: CustomResourceDefinitionVersion): string | undefined {
  const { name, deprecated, deprecationWarning } = version;
  if (deprecated !== true) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const { group, names, versions } = spec;
  const newer = versions.filter((other) => other.served && other.deprecated !== true && compareVersions(other.name, name) < 0);
  const [best] = newer.map((other) => other.name).sort(compareVersions);
  const sentence = `${group}/${name} ${names.kind} is deprecated`;
  return best === undefined ? sentence : `${sentence}; use ${group}/${best} ${names.kind}`;
}

const STANDARD_FINALIZERS = ["orphan", "foregroundDeletion", "kubernetes"];

/** Names of new finalizers that upstream advises against. */
function* finalizerWarnings({ metadata }: KubeObject, previous?: KubeObject): Iterable<string> {
  const known = new Set(previous?.metadata.finalizers);
  for (const finalizer of new Set((metadata.finalizers ?? []).toSorted())) {
    if (known.has(finalizer)) continue;
    const warn = (message: string) => `metadata.finalizers: ${JSON.stringify(finalizer)}: ${message}`;
    for (const message of validateQualifiedName(finalizer)) yield warn(message);
    if (finalizer.includes("/") || STANDARD_FINALIZERS.includes(finalizer)) continue;
    const path = finalizer.includes(".") ? " including a path (/)" : "";
    yield warn(`prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`);
  }
}
