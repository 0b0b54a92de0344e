/**
 * The tab "Why" of an object: GET /dashboard/why runs `k8ts why` in a process of its own, with the token of the request. So it reads what the
 * user may read and nothing else, and trials need neither the memory nor the processor time of the API server's process. Not here: starting
 * the process (components/dashboard.ts).
 */
import { signalOf } from "../../base/abort.ts";
import { badRequest, StatusError } from "../../api/machinery/status-error.ts";
import type { ExchangeRequest } from "../../apiserver/framework/exchange.ts";

export interface WhyQuestion {
  /** "pods", "deployments.apps". */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** A revision; absent: now. */
  readonly at?: string;
  readonly tries: boolean;
  /** Bearer token of the user or of their session. */
  readonly token: string;
}

/** The answer as JSON text. Rejects with a StatusError. */
export type RunWhy = (question: WhyQuestion, signal: AbortSignal) => Promise<string>;

/** Each is a process that uses a processor for seconds and reads the whole cluster. A person asks one question at a time. */
export const RUNNING_MAX = 2;

/** Names of resources: nothing that a command line could take for a flag. */
const RESOURCE = /^[a-z0-9][a-z0-9.-]*$/;

export class WhyRequests {
  readonly #run: RunWhy;
  #running = 0;

  constructor(run: RunWhy) {
    this.#run = run;
  }

  /** The request is of an authenticated user. Rejects with a StatusError. */
  async answer(request: ExchangeRequest): Promise<string> {
    const question = questionIn(request);
    if (this.#running >= RUNNING_MAX)
      throw new StatusError("TooManyRequests", `The dashboard explains ${RUNNING_MAX} objects at a time: try again in a few seconds`);
    this.#running++;
    try {
      return await this.#run(question, signalOf(request.signal));
    } finally {
      this.#running--;
    }
  }
}

function questionIn(request: ExchangeRequest): WhyQuestion {
  const parameters = new URLSearchParams(request.query);
  const text = (name: string) => parameters.get(name) ?? "";
  const [resource, name, at] = [text("resource"), text("name"), text("at")];
  if (!RESOURCE.test(resource) || name === "") throw badRequest("The parameters resource and name must name an object");
  if (!/^\d*$/.test(at)) throw badRequest("The parameter at must be a revision");
  const token = /^bearer ([^ ]+)$/i.exec(request.header("authorization") ?? "")?.[1];
  if (token === undefined) throw new StatusError("Unauthorized", "Present a bearer token");
  return { resource, namespace: text("namespace"), name, ...(at === "" ? {} : { at }), tries: text("try") === "true", token };
}
