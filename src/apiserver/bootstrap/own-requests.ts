/** Requests that the server makes on its own behalf: through the same pipeline as everybody's, under a name of its own. */
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";
import type { Pipeline } from "../pipeline.ts";
import type { RequestBody, RequestContext, User } from "../request.ts";
import type { StoredObject } from "../storage/stored-object.ts";

/** The server itself, where it acts on its own behalf. */
const SERVER: User = { name: "system:apiserver", groups: ["system:masters"] };

const CONTEXT: RequestContext = { user: SERVER, userAgent: "kube-apiserver", warn() {} };

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

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
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
    const found = await this.get(place, object.metadata.name);
    if (found !== undefined) return found;
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

  async #run(place: Place, asked: Asked): Promise<StoredObject> {
    const options: RequestOptions = {};
    const outcome = await this.#pipeline.run({ subresource: "", ...place, ...asked, options, context: CONTEXT });
    if (outcome.is !== "object") throw new Error(`Cannot ${asked.verb} ${place.plural}: the answer is a ${outcome.is}`);
    return outcome.object;
  }
}

interface Asked {
  readonly verb: Verb;
  readonly name: string;
  readonly subresource?: string;
  readonly body?: RequestBody;
}

function bodyOf(object: KubeObject): RequestBody {
  return { form: "object", object: object as unknown as JsonObject };
}
