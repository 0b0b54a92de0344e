/**
 * Serves the dashboard in front of the API, on its port: the page's files below /dashboard/, logins, and the API itself with the token of a
 * session in the place of the user's credential. There are no cookies: no request that another site causes carries a credential, so
 * cross-site request forgery is impossible. Links to the page have the code in the fragment, which browsers send to no server.
 *
 * - GET /dashboard/, /dashboard/FILE: the page. Without authentication: it contains no data.
 * - GET /dashboard/code: a one-time code for the authenticated user. Rejected if a browser sends it.
 * - GET /dashboard/why: why an object is as it is, for the authenticated user.
 * - POST /dashboard/session {"code", "token"}: opens a session with a token that the page has chosen. DELETE: logs out.
 */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import { isStatusError, StatusError } from "../../api/machinery/status-error.ts";
import type {
  Exchange,
  ExchangeAnswer,
  ExchangeRequest,
  SwitchOffer,
  UpgradeOffer,
  WholeAnswer,
} from "../../apiserver/framework/exchange.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { textAt } from "../data/fields.ts";
import { credentialOfRequest, RequestWithCredential, sessionTokenOf, type Credential } from "./credential.ts";
import { CODE_PATH, DASHBOARD_PATH, SESSION_PATH, WHY_PATH } from "../data/paths.ts";
import { PageFiles, SECURITY_HEADERS } from "./page-files.ts";
import { Sessions } from "./sessions.ts";
import { whoIs } from "./who-is.ts";
import { WhyRequests, type RunWhy } from "./why-requests.ts";

/** A code is 43 characters, a token 58. */
const LOGIN_BYTES_MAX = 1_024;

export interface DashboardOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns an unguessable string. */
  secret(): string;
  /** Runs `k8ts why`. */
  readonly runWhy: RunWhy;
}

/** The exchange of the API server with the dashboard in front of it. */
export function withDashboard(api: Exchange, options: DashboardOptions): Exchange {
  const dashboard = new Dashboard(api, options);
  return (request, offer, switching) => dashboard.exchange(request, offer, switching);
}

class Dashboard {
  readonly #api: Exchange;
  readonly #log: Logger;
  readonly #sessions: Sessions;
  readonly #files: PageFiles;
  readonly #why: WhyRequests;

  constructor(api: Exchange, { clock, log, secret, runWhy }: DashboardOptions) {
    this.#api = api;
    this.#log = log;
    this.#files = new PageFiles(clock);
    this.#sessions = new Sessions({ clock, secret });
    this.#why = new WhyRequests(runWhy);
  }

  exchange(request: ExchangeRequest, offer?: UpgradeOffer, switching?: SwitchOffer): Promise<ExchangeAnswer> {
    const { path } = request;
    if (path === "/dashboard" || path.startsWith(DASHBOARD_PATH)) return this.#own(request);
    const credential = this.#sessionOf(request);
    // Without a session the API rejects the token like any other that it does not know.
    return this.#api(credential === undefined ? request : new RequestWithCredential(request, credential), offer, switching);
  }

  #sessionOf(request: ExchangeRequest): Credential | undefined {
    const token = sessionTokenOf(request);
    return token === undefined ? undefined : this.#sessions.credentialOf(token);
  }

  async #own(request: ExchangeRequest): Promise<ExchangeAnswer> {
    const { method, path } = request;
    if (path === "/dashboard") return answer(308, { location: DASHBOARD_PATH });
    if (path === CODE_PATH && method === "GET") return this.#createCode(request);
    if (path === WHY_PATH && method === "GET") return this.#explain(request);
    if (path === SESSION_PATH && method === "POST") return this.#login(request);
    if (path === SESSION_PATH && method === "DELETE") return this.#logout(request);
    if (method !== "GET" && method !== "HEAD") return problem(405, "The dashboard has no such method");
    return (await this.#files.answer(request, path.slice(DASHBOARD_PATH.length))) ?? problem(404, "The dashboard has no such file");
  }

  async #createCode(request: ExchangeRequest): Promise<WholeAnswer> {
    // A browser adds one of these to every request. It could have a client certificate, which it shows for any site.
    if (request.header("sec-fetch-site") !== undefined || request.header("origin") !== undefined)
      return problem(403, 'A browser cannot request a code: run "k8ts dashboard"');
    const credential = credentialOfRequest(request);
    const user = credential === undefined ? undefined : await whoIs(this.#api, credential, request.peer);
    if (credential === undefined || user === undefined) return problem(401, "Unauthorized: present a client certificate or a token");
    this.#log.info("Created a login code of the dashboard", { user });
    return json(200, { code: this.#sessions.createCode(credential, user), user });
  }

  async #explain(request: ExchangeRequest): Promise<WholeAnswer> {
    try {
      const credential = this.#sessionOf(request) ?? credentialOfRequest(request);
      if (credential === undefined || (await whoIs(this.#api, credential, request.peer)) === undefined)
        throw new StatusError("Unauthorized", "Unauthorized");
      return answer(200, { "content-type": JSON_TYPE }, [new TextEncoder().encode(await this.#why.answer(request))]);
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return json(error.code, error.toStatus());
    }
  }

  async #login(request: ExchangeRequest): Promise<WholeAnswer> {
    if (isFromOtherSite(request)) return problem(403, "Cannot log in from another site");
    const { code, token } = await loginIn(request);
    if (!this.#sessions.open(code, token)) return problem(401, 'The link was used already or is too old: run "k8ts dashboard" for another');
    return answer(204, {});
  }

  #logout(request: ExchangeRequest): WholeAnswer {
    const token = sessionTokenOf(request);
    if (token !== undefined) this.#sessions.close(token);
    return answer(204, {});
  }
}

/** Browsers send both with a POST; other clients have no ambient credentials. */
function isFromOtherSite(request: ExchangeRequest): boolean {
  const site = request.header("sec-fetch-site");
  return site !== undefined && site !== "same-origin";
}

/** Members that are missing are "": also those of a body that is too large or no JSON. */
async function loginIn(request: ExchangeRequest): Promise<{ readonly code: string; readonly token: string }> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(await request.body(LOGIN_BYTES_MAX)));
    return { code: textAt(value, "code"), token: textAt(value, "token") };
  } catch {
    return { code: "", token: "" };
  }
}

function answer(code: number, headers: Readonly<Record<string, string>>, body: readonly Uint8Array[] = []): WholeAnswer {
  return { code, headers: { ...SECURITY_HEADERS, "cache-control": "no-store", ...headers }, body };
}

function json(code: number, value: object): WholeAnswer {
  return answer(code, { "content-type": JSON_TYPE }, [new TextEncoder().encode(JSON.stringify(value))]);
}

function problem(code: number, message: string): WholeAnswer {
  return json(code, { message });
}
