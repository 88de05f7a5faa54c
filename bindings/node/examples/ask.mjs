// Asks a server and says where the answer came from: node ask.mjs "What is 17 * 23?"

import { APIError, Client } from "tandem-llm";

const client = new Client(); // TANDEM_URL, or http://127.0.0.1:8080
try {
  const stream = await client.stream(process.argv[2], { tandem: { data_class: "sensitive" } });
  for await (const piece of stream) process.stdout.write(piece);
  const { exchange, tier, place, egress_bytes, reasons } = stream.decision;
  console.log(`\nfrom ${tier} (${place}), ${egress_bytes} bytes left`);
  for (const reason of reasons) console.log(`- ${reason.text}`);
  await client.feedback(exchange, true);
} catch (error) {
  if (!(error instanceof APIError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
