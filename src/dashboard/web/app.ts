/**
 * The page: logs in, reads which kinds there are, and shows the view of the address. With a link's code it opens a session; the token of a
 * session survives a reload of this tab, a pasted one does not.
 */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ClusterApi } from "../data/cluster-api.ts";
import type { ClusterConnection } from "../data/connection.ts";
import { fetchKinds, type Kind } from "../data/kinds.ts";
import type { Recording } from "../data/recording/recording.ts";
import { recordingConnection } from "../data/recording/recording-connection.ts";
import { SESSION_PATH, SESSION_PREFIX } from "../data/paths.ts";
import { Login } from "./login/login.ts";
import type { Browser } from "./page/browser.ts";
import { Waiting } from "./parts/notes.ts";
import { addressOf, parseRoute } from "./route.ts";
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
  const expire = () => {
    browser.session.write(undefined);
    setLogin({ is: "out", problem: "The session has ended: log in again." });
  };
  const tryToken = async (token: string, isSession: boolean): Promise<string | undefined> => {
    try {
      setLogin({ is: "in", token, isSession, user: await userOf(connect(() => token)) });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  useEffect(() => {
    const start = async () => {
      const { token, problem } = await sessionOf(
        browser,
        connect(() => undefined),
      ).catch((error: unknown) => {
        return { token: undefined, problem: `Cannot reach the API server: ${(error as Error).message}` };
      });
      const failure = token === undefined ? problem : await tryToken(token, true);
      if (token !== undefined && failure === undefined) return browser.session.write(token);
      browser.session.write(undefined);
      setLogin({ is: "out", ...(failure === undefined ? {} : { problem: failure }) });
    };
    void start();
  }, []);
  const files = useRecordings(browser);
  if (files.recording !== undefined) return h(OpenedRecording, { key: files.key, browser, recording: files.recording, close: files.close });
  const open = { openRecording: files.open, fileProblem: files.problem };
  if (login.is === "pending") return h(Waiting, { what: "the dashboard" });
  if (login.is === "out") return h(Login, { problem: login.problem, login: (token) => tryToken(token, false), ...open });
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

/** The token of the session: of a link's code, or of this tab. */
async function sessionOf(browser: Browser, connection: ClusterConnection): Promise<{ readonly token?: string; readonly problem?: string }> {
  const code = browser.takeLoginCode();
  const kept = browser.session.read();
  if (code === undefined) return kept === undefined ? {} : { token: kept };
  const token = `${SESSION_PREFIX}${browser.secret()}`;
  const request = { method: "POST", path: SESSION_PATH, contentType: "application/json", body: JSON.stringify({ code, token }) };
  // Repeated once if the response was lost: it is for the same token.
  const response = await connection.send(request).catch(() => connection.send(request));
  if (response.code === 204) return { token };
  const { message } = JSON.parse(new TextDecoder().decode(await response.bytes())) as { readonly message?: string };
  return { problem: message ?? "Cannot log in" };
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
  if (kinds === undefined) return h(Waiting, { what: "kinds" });
  const route = parseRoute(address);
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
