// Every text of the console, in English. de.ts has the same names. {name} is filled in.
export const en = {
  language: 'English',

  skip: 'Skip to the content',
  navigation: 'Views',
  theme: 'Light or dark',
  signOut: 'Sign out',
  loading: 'Loading',
  tryAgain: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  close: 'Close',
  roleViewer: 'Viewer',
  roleReviewer: 'Reviewer',
  roleOperator: 'Operator',
  roleAdmin: 'Admin',
  cannotReach: 'The server does not answer. Is it still running?',
  somethingFailed: 'This did not work: {why}',

  loginTitle: 'Sign in',
  loginText: 'This server needs an API key. It is exchanged for a cookie that scripts cannot read, and is not kept by the page.',
  loginKey: 'API key',
  loginButton: 'Sign in',
  loginWrong: 'The server does not take this key: it is wrong, was revoked or has expired.',
  loginOften: 'Too many wrong keys. Try again in {seconds} seconds.',
  loginEnded: 'Your session has ended. Sign in again.',

  playground: 'Playground',

  placeDevice: 'on this device',
  placePremises: 'on your premises',
  placeRegion: 'in your region',
  placeCloud: 'in the cloud',

  startTitle: 'Ask something and see where it is answered',
  startText: 'Tandem answers on this device where it can, and says with each answer where it came from and why.',
  ladder: 'Where a question can go',
  ladderFirst: 'A question starts at the top and goes on only when it must.',
  tierUp: 'ready',
  tierNoKey: 'no key yet',
  tierDown: 'not available ({code})',

  cardCloud: 'Connect a cloud',
  cardCloudText: 'Hard questions then go to a large model. Private data still stays here. Start Tandem with a key:',
  cardCloudMore: 'Any OpenAI-compatible server works: set OPENAI_BASE_URL, too.',
  cardModel: 'Pull a larger model',
  cardModelText: 'The model that comes with Tandem is tiny. {memory} of memory are free here, which is room for this one ({size}):',
  cardModelMore: 'Then serve it with: tandem serve -m {name}',
  cardTry: 'Try these five',
  cardTryText: 'Each goes another way. Look at what stands below the answer.',
  tryHeading: 'Try one of these',
  tryIntent: 'Classify the intent: please move 100 dollars to my savings',
  trySum: 'What is 17.5 % of 240?',
  tryCase: 'Write in upper case: good morning, tandem',
  tryPrivate: 'My card number is 4111 1111 1111 1111. Which network is it?',
  tryHard: 'Why did the French revolution begin?',

  askHere: 'Ask a question',
  send: 'Send',
  stop: 'Stop',
  sendHint: 'Enter sends, Shift and Enter begins a new line',
  you: 'You',
  answerOf: 'Answer',
  waiting: 'Waiting for the first word',
  edit: 'Edit',
  editSave: 'Ask again',
  cancel: 'Cancel',
  regenerate: 'Answer again',
  newChat: 'New chat',
  stopped: 'Stopped',
  failed: 'There is no answer: {why}',

  confidence: 'Confidence',
  confidenceNone: 'not judged',
  firstToken: 'First text',
  speed: 'Speed',
  tokensPerSecond: '{count} tokens/s',
  cost: 'Cost',
  cloudCost: 'In the cloud',
  saved: 'saved',
  dataClass: 'Data',
  left: 'Left the device',
  leftNothing: 'nothing',
  cached: 'given again from the cache',
  whyHere: 'Why here?',
  exchange: 'Exchange',

  provisional: 'Provisional: {tier} is checking it',
  committed: 'Checked by {tier}',
  corrected: 'Corrected by {tier}',
  notChecked: 'Nobody checked it in time',
  showBefore: 'Show what it said before',
  hideBefore: 'Hide what it said before',

  classPublic: 'public',
  classSensitive: 'sensitive',
  classContractual: 'contractual',
  classRestricted: 'restricted',

  controls: 'How it is asked',
  controlsOpen: 'Controls',
  model: 'Model',
  modelHint: 'auto lets Tandem choose',
  mode: 'Mode',
  modeAuto: 'Tandem chooses',
  modeOnlyLocal: 'Only on this device',
  modePreferLocal: 'Rather on this device',
  modePreferCloud: 'Rather in the cloud',
  modeOnlyCloud: 'Only in the cloud',
  classAtLeast: 'Data class, at least',
  classHint: 'Restricted data never leaves the device',
  classFound: 'As found in the text',
  deadline: 'The answer is due in',
  deadlineNone: 'No deadline',
  deadlineSeconds: '{seconds} s',
  systemPrompt: 'System prompt',
  systemHint: 'Goes before the conversation',
  systemPlaceholder: 'You answer in one sentence.',

  attach: 'Add a file',
  files: 'Files',
  fileRemove: 'Remove {name}',
  fileTooLarge: '{name} is too large: texts may have 1 MB, images 20 MB.',
  fileNoText: '{name} is no text in UTF-8. Only texts and images can be added.',
  fileNoImages: '{name} is an image, and no tier that is ready sees images. Connect a cloud, or a model with vision.',
  fileBroken: '{name} cannot be read as an image.',

  code: 'Code',
  codeTitle: 'Ask this from a program',
  codeText: 'The last question, or one to begin with, and how it is asked. Any OpenAI library works.',
  codeTextKey: 'The last question, or one to begin with, and how it is asked. Put your key into TANDEM_API_KEY.',

  weights: 'What matters',
  weightLatency: 'Speed',
  weightPrivacy: 'Privacy',
  weightCost: 'Cost',
  weightsHint: 'Drag the point. Among the tiers that may answer, the cheapest by these begins.',
  weightsNone: 'As the server has it',

  // --- Live ---

  // --- Explain ---

  // --- Review ---

  // --- Privacy ---

  // --- Keys and report ---

  // --- Models ---

  // --- What if ---
}

export type Texts = typeof en
export type TextName = keyof Texts
