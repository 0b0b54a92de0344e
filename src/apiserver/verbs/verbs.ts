/**
 * From an authorized request to its outcome: resolves the endpoint, and executes the verb on the object, a subresource of it or the
 * collection.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { validatePathSegmentName } from "../../api/machinery/names.ts";
import type { Subresource } from "../../api/machinery/resource.ts";
import { badRequest, noSuchPath, notFound } from "../../api/machinery/status-error.ts";
import type { MaybePromise } from "../framework/authentication.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { Outcome } from "../framework/outcome.ts";
import { isDryRun, type ApiRequest } from "../framework/request.ts";
import type { ResolvedResource } from "../framework/access/resolved-resource.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { yieldLoop, yieldLoopOf, runSteps } from "../limits/slices.ts";
import type { WatchRegistry } from "../watch/watch-registry.ts";
import { createObject, withoutSystemFields } from "../write/create.ts";
import { decodeBody, type SentObject } from "../write/decode-body.ts";
import { withVersions } from "../write/field-manager.ts";
import { checkName, inNamespace, withoutRepeatedOwners } from "../write/metadata.ts";
import { checkPatchOptions, patchedObject, readPatch } from "../write/patch.ts";
import { parseLarge } from "../write/parse-large.ts";
import { updateObject } from "../write/update.ts";
import { checkWriteOptions } from "../write/write-options.ts";
import { validateCreate } from "../write/validation.ts";
import { connect } from "./connect/connect.ts";
import { deleteCollection, deleteOne } from "./delete.ts";
import { listObjects } from "./list.ts";
import { getObject } from "./get.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { handleScale } from "./scale.ts";
import { getUnstored, listUnstored } from "./unstored.ts";
import { watchObjects } from "./watch.ts";
import { prepareObjects } from "../framework/storage/prepared-objects.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import type { NextObject } from "../framework/storage/writes.ts";

export class Verbs {
  readonly #server: ServerContext;
  readonly #watches: WatchRegistry;

  constructor(server: ServerContext, watches: WatchRegistry) {
    this.#server = server;
    this.#watches = watches;
  }

  /** Throws a StatusError, or rejects with one. Hot path: there is a promise only if there is something to wait for. */
  handle({ endpoint, subresource }: ResolvedResource, received: ApiRequest): MaybePromise<Outcome> {
    if (endpoint === undefined) return this.#answerDynamic(received);
    checkPlace(endpoint, received);
    if (yieldLoopOf(received) === undefined) return this.#execute(endpoint, subresource, received);
    return parseLarge(endpoint, received).then((parsed) => this.#execute(endpoint, subresource, parsed));
  }

  #execute(endpoint: Endpoint, subresource: Subresource | undefined, request: ApiRequest): MaybePromise<Outcome> {
    if (endpoint.served.deprecation !== undefined) request.context.warn(endpoint.served.deprecation);
    if (request.subresource !== "") return this.#handleSubresource(endpoint, request, subresource);
    if (!endpoint.resource.verbs.includes(request.verb)) throw methodNotAllowed();
    switch (request.verb) {
      case "get":
        if (!endpoint.resource.stored) return getUnstored(this.#server, endpoint, request);
        return this.#get(endpoint, request);
      case "list":
        if (!endpoint.resource.stored) return listUnstored(this.#server, endpoint, request);
        return listObjects(endpoint, request).then((list) => ({ is: "list", endpoint, list }));
      case "watch":
        return this.#watch(endpoint, request);
      case "create":
        return this.#create(endpoint, request);
      case "update":
        return this.#update(endpoint, request);
      case "patch":
        return this.#patch(endpoint, request);
      case "delete":
        return deleteOne(this.#server, endpoint, request);
      case "deletecollection":
        return deleteCollection(this.#server, endpoint, request);
    }
  }

  #get(endpoint: Endpoint, request: ApiRequest): MaybePromise<Outcome> {
    const reading = getObject(endpoint, request);
    return reading instanceof Promise ? reading.then((object) => objectOutcome(endpoint, object)) : objectOutcome(endpoint, reading);
  }

  async #watch(endpoint: Endpoint, request: ApiRequest): Promise<Outcome> {
    return { is: "watch", endpoint, watch: await watchObjects(this.#server, this.#watches, { endpoint, request }) };
  }

  /** A resource without a definition: of a group whose resources are data, if it exists at all. */
  async #answerDynamic(request: ApiRequest): Promise<Outcome> {
    const { group, version } = request;
    const api = this.#server.dynamicApis.find((candidate) => candidate.group === group && candidate.version === version);
    if (api === undefined) throw noSuchPath();
    return api.answer(request);
  }

  async #create(endpoint: Endpoint, request: ApiRequest): Promise<Outcome> {
    checkWriteOptions(request.options, "CreateOptions");
    const sent = placed(endpoint, request, decode(endpoint, request));
    if (yieldLoopOf(request) !== undefined) await yieldLoop(request);
    if (!endpoint.resource.stored) return this.#answer(endpoint, request, withoutSystemFields(sent.object));
    return objectOutcome(endpoint, await createObject(this.#server, { endpoint, request }, sent), 201);
  }

  /** A create of a kind that is answered and not stored. */
  async #answer(endpoint: Endpoint, request: ApiRequest, object: KubeObject): Promise<Outcome> {
    const extension = this.#server.extension(endpoint.name.group, endpoint.name.plural);
    if (extension?.answer === undefined) throw noSuchPath();
    const admitted = await this.#admit(endpoint, request, object, (changed) =>
      this.#server.evaluations.run(validateCreate(endpoint, changed, request.context)),
    );
    return extension.answer({ endpoint, request, object: admitted });
  }

  async #update(endpoint: Endpoint, request: ApiRequest, subresource?: ObjectSubresource): Promise<Outcome> {
    checkWriteOptions(request.options, "UpdateOptions");
    const sent = placed(endpoint, request, decode(endpoint, request));
    if (yieldLoopOf(request) !== undefined) await yieldLoop(request);
    const { object } = sent;
    checkName(object, request.name);
    const resourceVersion = object.metadata.resourceVersion ?? "";
    const { created, object: stored } = await updateObject(this.#server, {
      endpoint,
      request,
      ...(subresource === undefined ? {} : { subresource }),
      next: () => ({ ...sent, resourceVersion }),
      createsIfAbsent: subresource === undefined && endpoint.resource.createOnUpdate,
    });
    return objectOutcome(endpoint, stored, created ? 201 : 200);
  }

  async #patch(endpoint: Endpoint, request: ApiRequest, subresource?: ObjectSubresource): Promise<Outcome> {
    const patch = readPatch(request.body);
    request.context.trail?.audit?.receivedPatch(patch.value);
    checkPatchOptions(patch, request, endpoint);
    const finish = (next: NextObject): NextObject => {
      const object = inNamespace(next.object, namespaceOf(endpoint, request));
      checkName(object, request.name);
      return { ...next, object: withoutRepeatedOwners(object, request.context, true) };
    };
    const { created, object } = await updateObject(this.#server, {
      endpoint,
      request,
      ...(subresource === undefined ? {} : { subresource }),
      next: (current) => {
        const next = withVersions(endpoint, (versions) =>
          runSteps(patchedObject(this.#server, { endpoint, request, patch, ...versions }, current), request),
        );
        return next instanceof Promise ? next.then(finish) : finish(next);
      },
      createsIfAbsent: subresource === undefined && patch.type === "apply",
    });
    return objectOutcome(endpoint, object, created ? 201 : 200);
  }

  #handleSubresource(endpoint: Endpoint, request: ApiRequest, subresource: Subresource | undefined): MaybePromise<Outcome> {
    // The paths of custom resources have no fixed subresources: upstream answers as for a missing object.
    if (subresource === undefined) throw endpoint.resource.isTyped === false ? notFound(endpoint.name, request.name) : noSuchPath();
    if (!subresource.verbs.includes(request.verb)) throw methodNotAllowed();
    switch (subresource.of) {
      case "scale":
        return handleScale(this.#server, { endpoint, request, subresource });
      case "action":
        return this.#act(endpoint, request, subresource);
      case "connection":
        return connect(this.#server, { endpoint, request, subresource });
      case "object":
        if (request.verb === "get") return this.#get(endpoint, request);
        return request.verb === "patch" ? this.#patch(endpoint, request, subresource) : this.#update(endpoint, request, subresource);
    }
  }

  async #act(endpoint: Endpoint, request: ApiRequest, { takes }: Extract<Subresource, { of: "action" }>): Promise<Outcome> {
    const action = this.#server.extension(endpoint.name.group, endpoint.name.plural)?.actions?.[request.subresource];
    const schema = this.#server.schemas.get(takes.schema);
    if (action === undefined || schema?.type !== "object") throw noSuchPath();
    checkWriteOptions(request.options, "CreateOptions");
    const { object: sent } = decodeBody({ kind: takes, olderVersions: takes.olderVersions ?? [], schema }, request.body, request);
    const object = inNamespace(sent, request.namespace);
    return action({ endpoint, request, object: await this.#admit(endpoint, request, object) });
  }

  /**
   * Admission of a body that is not stored itself: the objects that an action writes have an admission of their own, so this charges
   * nothing.
   */
  async #admit(
    endpoint: Endpoint,
    request: ApiRequest,
    object: KubeObject,
    check?: (admitted: KubeObject) => void | Promise<void>,
  ): Promise<KubeObject> {
    const { namespace, name, subresource, options, context } = request;
    const { admission } = this.#server;
    const asked = {
      operation: "CREATE",
      endpoint,
      subresource,
      namespace,
      name,
      object,
      dryRun: isDryRun(options),
      options,
      context,
    } as const;
    const admitted = await admission.mutate(asked, object);
    await check?.(admitted);
    const charge = await admission.validate({ ...asked, object: admitted });
    await charge.settle(false);
    return admitted;
  }
}

/** In the version of the request. */
function objectOutcome(endpoint: Endpoint, object: StoredObject, code: 200 | 201 = 200): MaybePromise<Outcome> {
  const outcome: Outcome = { is: "object", code, endpoint, object };
  return prepareObjects(endpoint, [object])?.then(() => outcome) ?? outcome;
}

type ObjectSubresource = Extract<Subresource, { readonly of: "object" }>;

function decode(endpoint: Endpoint, request: ApiRequest): SentObject {
  const { served, resource, schema } = endpoint;
  const kind = { group: served.group, version: served.version, kind: resource.kind };
  return decodeBody({ kind, schema, decode: served.decode }, request.body, request);
}

/** In the namespace of the path, with its defaults. */
function placed(endpoint: Endpoint, request: ApiRequest, sent: SentObject): SentObject {
  const object = withoutRepeatedOwners(inNamespace(sent.object, namespaceOf(endpoint, request)), request.context);
  return { ...sent, object: endpoint.served.defaults?.(object) ?? object };
}

function namespaceOf({ resource }: Endpoint, { namespace }: ApiRequest): string {
  return resource.scope === "Namespaced" ? namespace : "";
}

/** The path must fit the scope of the resource, and its names must be valid. */
function checkPlace({ resource, name: resourceName }: Endpoint, { verb, namespace, name, subresource }: ApiRequest): void {
  if (resource.scope === "Cluster" && namespace !== "") throw noSuchPath();
  const isCollection = name === "";
  if (isCollection ? verb === "update" || verb === "patch" : verb === "create" && subresource === "") throw methodNotAllowed();
  // Only lists and watches span all namespaces.
  if (resource.scope === "Namespaced" && namespace === "" && verb !== "list" && verb !== "watch")
    throw isCollection ? methodNotAllowed() : noSuchPath();
  for (const [label, segment] of [
    ["Namespace", namespace],
    ["Name", name],
  ] as const) {
    const [problem] = segment === "" ? [] : validatePathSegmentName(segment);
    if (problem !== undefined) throw badRequest(`${label} parameter invalid: ${JSON.stringify(segment)}: ${problem}`);
    if (UNSTORABLE.test(segment) || !segment.isWellFormed()) throw notFound(resourceName, segment.toWellFormed());
  }
}

/** Characters that no key may have, and so no object's name. */
const UNSTORABLE = /\0/;
