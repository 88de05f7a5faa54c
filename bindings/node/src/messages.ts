export type Role = "system" | "developer" | "user" | "assistant" | "tool";

export interface Message {
  role: Role;
  content: string;
}

/** A text alone is one message of the user's. */
export function asMessages(messages: string | readonly Message[]): readonly Message[] {
  return typeof messages === "string" ? [{ role: "user", content: messages }] : messages;
}
