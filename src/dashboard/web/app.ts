/**
 * The page: logs in, reads which kinds there are, and shows the view of the address. With a link's code it opens a session; the token of a
 * session survives a reload of this tab, a pasted one does not.
 */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isReason } from "../../api/machinery/status-error.ts";
import { ClusterApi } from "../data/cluster-api.ts";
import type { ClusterConnection } from "../data/connection.ts";
import { fetchKinds, type Kind } from "../data/kinds.ts";
import type { Recording } from "../data/recording/recording.ts";
import { recordingConnection } from "../data/recording/recording-connection.ts";
import { SESSION_PATH, SESSION_PREFIX } from "../data/paths.ts";
import { Login } from "./login/login.ts";
import type { Browser } from "./page/browser.ts";
import { Waiting } from "./parts/notes.ts";
import { addressOf, parseRoute, type Route } from "./route.ts";
import { Shell, type ShellProps } from "./shell/shell.ts";
import { useInstant, useRecordings, type OpenProps } from "./time.ts";
import { all as views } from "./views/all.ts";
import type { Context } from "./views/view.ts";

/** Lists of kinds are read again this often: a CustomResourceDefinition appears in the menu. */
const KINDS_INTERVAL_MS = 15_000;

const RETRY_MS = 1_000;

const FIRST_ADDRESS = addressOf("list", ["pods"]);

export interface AppProps {
  readonly browser: Browser;
  /** True on a cluster inside of the page, which has one user. */
  readonly withoutLogin?: boolean;
  connect(token: () => string | undefined): ClusterConnection;
}

type Login =
  | { readonly is: "pending" }
  | { readonly is: "out"; readonly problem?: string }
  | { readonly is: "in"; readonly token: string; readonly user: string; readonly isSession: boolean };

interface SelfSubjectReview {
  readonly status: { readonly userInfo: { readonly username: string } };
}

export function App({ browser, connect, withoutLogin = false }: AppProps): JSX.Element {
  const [login, setLogin] = useState<Login>({ is: "pending" });
  // Where the page was when its session ended: the next login returns there.
  const left = useRef("");
  const expire = () => {
    browser.session.write(undefined);
    left.current = browser.address.read();
    setLogin({ is: "out", problem: "The session has ended: log in again." });
  };
  const tryToken = async (token: string, isSession: boolean): Promise<Error | undefined> => {
    try {
      const user = await userOf(connect(() => token));
      // Before the views are there, which read the address.
      if (left.current !== "") browser.address.replace(left.current);
      left.current = "";
      setLogin({ is: "in", token, isSession, user });
      return undefined;
    } catch (error) {
      return error as Error;
    }
  };
  const start = async (code: string | undefined) => {
    const anonymous = connect(() => undefined);
    const { token, problem } = await sessionOf(browser, anonymous, code).catch((error: unknown) => {
      return { token: undefined, problem: new Error(`Cannot reach the API server: ${(error as Error).message}`) };
    });
    const failure = token === undefined ? problem : await tryToken(token, true);
    if (token !== undefined && failure === undefined) return browser.session.write(token);
    // A server that cannot be reached says nothing about the session: a reload tries it again.
    if (isReason(failure, "Unauthorized")) browser.session.write(undefined);
    setLogin({ is: "out", ...(failure === undefined ? {} : { problem: failure.message }) });
  };
  useEffect(() => {
    void start(browser.takeLoginCode());
    // A link that is opened in this tab changes only the fragment: the page is not loaded again.
    return browser.address.onChange(() => {
      const code = browser.takeLoginCode();
      if (code !== undefined) void start(code);
    });
  }, []);
  const files = useRecordings(browser);
  if (files.recording !== undefined) return h(OpenedRecording, { key: files.key, browser, recording: files.recording, close: files.close });
  const open = { openRecording: files.open, fileProblem: files.problem };
  if (login.is === "pending") return h(Waiting, { what: "the dashboard" });
  if (login.is === "out")
    return h(Login, {
      key: login.problem,
      problem: login.problem,
      login: async (token) => (await tryToken(token, false))?.message,
      ...open,
    });
  const logout = async () => {
    // A server that cannot be reached ends the unused session by itself.
    if (login.isSession)
      await connect(() => login.token)
        .send({ method: "DELETE", path: SESSION_PATH })
        .catch(() => undefined);
    browser.session.write(undefined);
    setLogin({ is: "out" });
  };
  return h(LoggedIn, {
    key: login.token,
    browser,
    connect,
    login,
    expire,
    ...open,
    ...(withoutLogin ? {} : { logout: () => void logout() }),
  });
}

interface FoundSession {
  readonly token?: string;
  readonly problem?: Error;
}

/** The token of the session: of a link's code, or of this tab. */
async function sessionOf(browser: Browser, connection: ClusterConnection, code: string | undefined): Promise<FoundSession> {
  const kept = browser.session.read();
  if (code === undefined) return kept === undefined ? {} : { token: kept };
  const token = `${SESSION_PREFIX}${browser.secret()}`;
  const request = { method: "POST", path: SESSION_PATH, contentType: "application/json", body: JSON.stringify({ code, token }) };
  // Repeated once if the response was lost: it is for the same token.
  const response = await connection.send(request).catch(() => connection.send(request));
  if (response.code === 204) return { token };
  const { message } = JSON.parse(new TextDecoder().decode(await response.bytes())) as { readonly message?: string };
  return { problem: new Error(message ?? "Cannot log in") };
}

async function userOf(connection: ClusterConnection): Promise<string> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const { status } = await new ClusterApi(connection).post<SelfSubjectReview>("/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
  return status.userInfo.username;
}

interface LoggedInProps extends AppProps, OpenProps {
  readonly login: Login & { readonly is: "in" };
  expire(): void;
  logout?(): void;
}

function LoggedIn({ browser, connect, login: { token, user }, expire, logout, ...open }: LoggedInProps): JSX.Element {
  const connection = useMemo(() => connect(() => token), [token]);
  const leave = logout === undefined ? {} : { leave: { user, title: "Log out", run: logout } };
  return h(Inside, { browser, connection, expire, ...leave, ...open });
}

function OpenedRecording({ browser, recording, close }: { readonly browser: Browser; readonly recording: Recording; close(): void }) {
  const connection = useMemo(() => recordingConnection(recording), [recording]);
  const { from, to, missing } = recording;
  const user = `recording ${from.time} to ${to.time}`;
  return h(Inside, { browser, connection, leave: { user, title: "Close recording", run: close }, notes: missing });
}

interface InsideProps extends Partial<OpenProps> {
  readonly browser: Browser;
  readonly connection: ClusterConnection;
  readonly leave?: NonNullable<ShellProps["leave"]>;
  readonly notes?: readonly string[];
  expire?(): void;
}

function Inside({ browser, connection, expire, ...frame }: InsideProps): JSX.Element {
  const api = useMemo(() => new ClusterApi(connection, expire), [connection]);
  const kinds = useKinds(api, browser);
  const address = useAddress(browser);
  const { at, goTo, past } = useInstant(browser, connection);
  const route = useNamespace(parseRoute(address));
  if (kinds === undefined) return h(Waiting, { what: "kinds" });
  const view = views.find(({ name }) => name === route.view) ?? views[0];
  if (view === undefined) throw new Error("There is no view");
  browser.setTitle(`${view.titleOf(route)} · k8ts`);
  const changed = (change: Readonly<Record<string, string | undefined>>) =>
    addressOf(route.view, route.segments, { ...route.query, ...change });
  const live: Context = {
    api,
    kinds,
    browser,
    setQuery: (change) => browser.address.go(changed(change)),
    replaceQuery: (change) => browser.address.replace(changed(change)),
  };
  const context: Context = at === undefined || past === undefined ? live : { ...live, ...past, at };
  return h(Shell, { context, live, goTo, route, view, ...frame });
}

/** The chosen namespace stays while an object is shown, whose address does not have it. */
function useNamespace(route: Route): Route {
  const chosen = useRef<string | undefined>(undefined);
  if (route.view !== "object" || route.query["ns"] !== undefined) {
    chosen.current = route.query["ns"];
    return route;
  }
  return chosen.current === undefined ? route : { ...route, query: { ...route.query, ns: chosen.current } };
}

function useAddress(browser: Browser): string {
  const [address, setAddress] = useState(browser.address.read());
  useEffect(() => browser.address.onChange(() => setAddress(browser.address.read())), [browser]);
  return address === "" || address === "/" ? FIRST_ADDRESS : address;
}

function useKinds(api: ClusterApi, { clock }: Browser): readonly Kind[] | undefined {
  const [kinds, setKinds] = useState<readonly Kind[] | undefined>(undefined);
  useEffect(() => {
    const life = new AbortController();
    const read = async () => {
      let last = "";
      while (!life.signal.aborted) {
        const fresh = await fetchKinds(api).catch(() => undefined);
        const text = JSON.stringify(fresh);
        // The same array as long as nothing changed, so that nothing is rendered again.
        if (fresh !== undefined && text !== last) setKinds(fresh);
        last = text;
        await clock.sleep(fresh === undefined ? RETRY_MS : KINDS_INTERVAL_MS, life.signal);
      }
    };
    read().catch(() => undefined);
    return () => life.abort();
  }, [api]);
  return kinds;
}
