/** Contract of a route of the test control API. The routes are listed in all.ts; control-server.ts serves them, openapi.ts documents them. */
import type { TestControl } from "../test-control.ts";
import type { Fields, Values } from "./fields.ts";

export type Method = "GET" | "PUT" | "POST" | "DELETE";

/** Names of the parameters of a path: "cluster" of "/v1/clusters/{cluster}". */
type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterNames<Rest> : never;

export interface Call<Path extends string, Body extends Fields> {
  readonly control: TestControl;
  /** Decoded. */
  readonly parameters: { readonly [Name in ParameterNames<Path>]: string };
  readonly body: Values<Body>;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface Route<Path extends string = string, Body extends Fields = Fields> {
  readonly method: Method;
  readonly path: Path;
  /** One line. */
  readonly summary: string;
  /** Unique identifier in camel case, for generated clients. */
  readonly operation: string;
  /** Default: none is read. */
  readonly body?: Body;
  readonly answer: Fields;
  /** Resolves with the answer, an object of the declared fields. Throws a Problem. */
  handle(call: Call<Path, Body>): Promise<object>;
}

/** Any route, for lists: calls are checked where they are built. */
export type AnyRoute = Omit<Route, "handle"> & { handle(call: Call<string, Fields>): Promise<object> };

/** Infers the types of parameters and body. */
export function defineRoute<const Path extends string, const Body extends Fields = Record<never, never>>(
  route: Route<Path, Body>,
): AnyRoute {
  return route;
}
