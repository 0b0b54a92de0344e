/** Sends the server's own requests through the pipeline. */
import type { Cause } from "../../api/machinery/cause.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { Pipeline } from "./pipeline.ts";
import { SERVER, type OwnRequests, type Place } from "../framework/own-requests.ts";
import type { RequestBody, RequestContext } from "../framework/request.ts";
import type { StoredObject } from "../framework/storage/storage.ts";

const SERVER_AGENT = "kube-apiserver";

/** Cause of objects that the server creates at start. */
const AT_START: Cause = { controller: SERVER_AGENT, key: "bootstrap", reason: "Bootstrap" };

export class PipelineRequests implements OwnRequests {
  readonly #pipeline: Pipeline;
  readonly #context: RequestContext;

  /** `as`: the user of the requests. Default: the server. */
  constructor(pipeline: Pipeline, as: Pick<RequestContext, "user" | "userAgent" | "cause"> = { user: SERVER, userAgent: SERVER_AGENT }) {
    this.#pipeline = pipeline;
    this.#context = { cause: AT_START, ...as, warn() {} };
  }

  because(cause: Omit<Cause, "controller">): OwnRequests {
    const { user, userAgent } = this.#context;
    return new PipelineRequests(this.#pipeline, { user, userAgent, cause: { controller: SERVER_AGENT, ...cause } });
  }

  async get(place: Place, name: string): Promise<StoredObject | undefined> {
    try {
      return await this.#run(place, { verb: "get", name });
    } catch (error) {
      if (isReason(error, "NotFound")) return undefined;
      throw error;
    }
  }

  async make(place: Place, object: KubeObject): Promise<StoredObject> {
    return (await this.get(place, object.metadata.name)) ?? this.makeMissing(place, object);
  }

  async makeMissing(place: Place, object: KubeObject): Promise<StoredObject> {
    try {
      return await this.#run(place, { verb: "create", name: "", body: bodyOf(object) });
    } catch (error) {
      // If another server was first, the create may also fail because of an address that the object claims.
      const made = await this.get(place, object.metadata.name);
      if (made === undefined) throw error;
      return made;
    }
  }

  async put(place: Place, object: KubeObject, subresource = ""): Promise<void> {
    try {
      await this.#run(place, { verb: "update", name: object.metadata.name, body: bodyOf(object), subresource });
    } catch (error) {
      if (!isReason(error, "Conflict") && !isReason(error, "NotFound")) throw error;
    }
  }

  async remove(place: Place, { metadata: { name, uid } }: KubeObject): Promise<void> {
    const options = { kind: "DeleteOptions", apiVersion: "v1", ...(uid === undefined ? {} : { preconditions: { uid } }) };
    try {
      await this.#send(place, { verb: "delete", name, body: { form: "object", object: options } });
    } catch (error) {
      if (!isReason(error, "Conflict") && !isReason(error, "NotFound")) throw error;
    }
  }

  async label(place: Place, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const found = await this.get(place, name);
    if (found === undefined) return;
    const { metadata } = found.object;
    await this.put(place, { ...found.object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } });
  }

  apply(place: Place, object: KubeObject, fieldManager: string, subresource = ""): Promise<StoredObject> {
    const body: RequestBody = { form: "patch", type: "apply", patch: object as JsonObject };
    return this.#run(place, { verb: "patch", name: object.metadata.name, body, subresource, options: { fieldManager, force: true } });
  }

  async #run(place: Place, asked: Asked): Promise<StoredObject> {
    const outcome = await this.#send(place, asked);
    if (outcome.is !== "object") throw new Error(`Cannot ${asked.verb} ${place.plural}: the response is a ${outcome.is}`);
    return outcome.object;
  }

  #send(place: Place, asked: Asked): Promise<Outcome> {
    return this.#pipeline.runInProcess({ subresource: "", options: {}, ...place, ...asked, context: this.#context });
  }
}

interface Asked {
  readonly verb: Verb;
  readonly name: string;
  readonly subresource?: string;
  readonly body?: RequestBody;
  readonly options?: RequestOptions;
}

function bodyOf(object: KubeObject): RequestBody {
  return { form: "object", object };
}
