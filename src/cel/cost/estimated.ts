/** Operands of a call, and what is estimated of it. */
import type { Expression } from "../syntax/ast.ts";
import type { CelType } from "../types/type.ts";
import type { Range } from "./size.ts";

/** An operand of a call. */
export interface CallNode {
  readonly path: readonly string[];
  readonly type: CelType | undefined;
  /** Absent: the elements of a list. */
  readonly expression?: Expression;
  readonly size: Range | undefined;
}

export interface Estimated {
  readonly cost: Range;
  /** Size of the result. */
  readonly size?: Range;
  /** The costs of the arguments are in it already. */
  readonly includesArguments?: true;
}
