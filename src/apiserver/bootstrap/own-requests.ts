/** Requests that the server makes on its own behalf: through the same pipeline as everybody's, under a name of its own. */
import type { Cause } from "../../api/machinery/cause.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import type { RequestBody, RequestContext, User } from "../framework/request.ts";
import type { StoredObject } from "../storage/stored-object.ts";

/** The server itself, where it acts on its own behalf. */
export const SERVER: User = { name: "system:apiserver", groups: ["system:masters"] };

const SERVER_AGENT = "kube-apiserver";

/** Of what the server creates when it starts. */
const AT_START: Cause = { controller: SERVER_AGENT, key: "bootstrap", reason: "Bootstrap" };

/** Where objects of one kind are. */
export interface Place {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** "" for what is in none. */
  readonly namespace: string;
}

export class OwnRequests {
  readonly #pipeline: Pipeline;
  readonly #context: RequestContext;

  /** `as`: who asks, if not the server itself. */
  constructor(pipeline: Pipeline, as: Pick<RequestContext, "user" | "userAgent" | "cause"> = { user: SERVER, userAgent: SERVER_AGENT }) {
    this.#pipeline = pipeline;
    this.#context = { cause: AT_START, ...as, warn() {} };
  }

  /** The same requests with another cause on every write. */
  because(cause: Omit<Cause, "controller">): OwnRequests {
    const { user, userAgent } = this.#context;
    return new OwnRequests(this.#pipeline, { user, userAgent, cause: { controller: SERVER_AGENT, ...cause } });
  }

  async get(place: Place, name: string): Promise<StoredObject | undefined> {
    try {
      return await this.#run(place, { verb: "get", name });
    } catch (error) {
      if (isReason(error, "NotFound")) return undefined;
      throw error;
    }
  }

  /** The object as it is afterwards. What exists is left as it is: another API server of the same cluster may have been first. */
  async make(place: Place, object: KubeObject): Promise<StoredObject> {
    return (await this.get(place, object.metadata.name)) ?? this.makeMissing(place, object);
  }

  /** The same, for who has looked already. */
  async makeMissing(place: Place, object: KubeObject): Promise<StoredObject> {
    try {
      return await this.#run(place, { verb: "create", name: "", body: bodyOf(object) });
    } catch (error) {
      // If another server was first, the create may fail for more reasons than the name: it has the address, too.
      const made = await this.get(place, object.metadata.name);
      if (made === undefined) throw error;
      return made;
    }
  }

  /** Writes the object as it should be, unless it changed since it was read; then whoever changed it has the last word for now. */
  async put(place: Place, object: KubeObject, subresource = ""): Promise<void> {
    try {
      await this.#run(place, { verb: "update", name: object.metadata.name, body: bodyOf(object), subresource });
    } catch (error) {
      if (!isReason(error, "Conflict") && !isReason(error, "NotFound")) throw error;
    }
  }

  /** Just this one: another of the same name stays. */
  async remove(place: Place, { metadata: { name, uid } }: KubeObject): Promise<void> {
    const options = { kind: "DeleteOptions", apiVersion: "v1", ...(uid === undefined ? {} : { preconditions: { uid } }) };
    try {
      await this.#send(place, { verb: "delete", name, body: { form: "object", object: options } });
    } catch (error) {
      if (!isReason(error, "Conflict") && !isReason(error, "NotFound")) throw error;
    }
  }

  /** What is gone, or is being changed by somebody else at this moment, stays as it is. */
  async label(place: Place, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const found = await this.get(place, name);
    if (found === undefined) return;
    const { metadata } = found.object;
    await this.put(place, { ...found.object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } });
  }

  /** Server-side apply of part of an object; who else has written that part has to give way. */
  apply(place: Place, object: KubeObject, fieldManager: string, subresource = ""): Promise<StoredObject> {
    const body: RequestBody = { form: "patch", type: "apply", patch: object as JsonObject };
    return this.#run(place, { verb: "patch", name: object.metadata.name, body, subresource, options: { fieldManager, force: true } });
  }

  async #run(place: Place, asked: Asked): Promise<StoredObject> {
    const outcome = await this.#send(place, asked);
    if (outcome.is !== "object") throw new Error(`Cannot ${asked.verb} ${place.plural}: the answer is a ${outcome.is}`);
    return outcome.object;
  }

  #send(place: Place, asked: Asked): Promise<Outcome> {
    return this.#pipeline.run({ subresource: "", options: {}, ...place, ...asked, context: this.#context });
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
