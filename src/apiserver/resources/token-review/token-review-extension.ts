/** TokenReview: user and audiences of a token. Answered by the authenticator of all requests. */
import type { TokenReview, TokenReviewSpec, TokenReviewStatus } from "../../../api/generated/authentication.k8s.io/v1.ts";
import { badRequest } from "../../../api/machinery/status-error.ts";
import type { TokenReviewAnswer } from "../../framework/authentication.ts";
import { answered } from "../../framework/outcome.ts";
import { userInfo } from "../../shared/user-info.ts";
import type { ExtensionFactory } from "../../framework/server-context.ts";

export const tokenReviewExtension: ExtensionFactory = ({ authenticator }) => ({
  group: "authentication.k8s.io",
  plural: "tokenreviews",
  async answer({ endpoint, object }) {
    const review = object as TokenReview;
    const { token = "", audiences = [] } = specOf(review);
    if (token === "") throw badRequest("token is required for TokenReview in authentication");
    return answered(endpoint, { ...review, status: statusOf(await authenticator.reviewToken(token, audiences)) });
  },
});

/** Required by the type, but a client may omit it. */
function specOf({ spec }: TokenReview): Partial<TokenReviewSpec> {
  return spec;
}

/** Upstream returns an empty user if none exists. */
function statusOf(answer: TokenReviewAnswer): TokenReviewStatus {
  if (!answer.authenticated) return { user: {}, ...(answer.error === "" ? {} : { error: answer.error }) };
  const { user, audiences } = answer;
  return { authenticated: true, user: userInfo(user), ...(audiences.length === 0 ? {} : { audiences }) };
}
