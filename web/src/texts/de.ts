import type { Texts } from './en'

export const de: Texts = {
  language: 'Deutsch',

  skip: 'Zum Inhalt springen',
  navigation: 'Ansichten',
  theme: 'Hell oder dunkel',
  signOut: 'Abmelden',
  loading: 'Wird geladen',
  tryAgain: 'Noch einmal',
  copy: 'Kopieren',
  copied: 'Kopiert',
  close: 'Schließen',
  roleViewer: 'Betrachten',
  roleReviewer: 'Prüfen',
  roleOperator: 'Betrieb',
  roleAdmin: 'Verwaltung',
  cannotReach: 'Der Server antwortet nicht. Läuft er noch?',
  somethingFailed: 'Das hat nicht geklappt: {why}',

  loginTitle: 'Anmelden',
  loginText: 'Dieser Server verlangt einen API-Schlüssel. Er wird gegen ein Cookie getauscht, das Skripte nicht lesen können, und die Seite behält ihn nicht.',
  loginKey: 'API-Schlüssel',
  loginButton: 'Anmelden',
  loginWrong: 'Der Server nimmt diesen Schlüssel nicht: Er ist falsch, widerrufen oder abgelaufen.',
  loginOften: 'Zu viele falsche Schlüssel. Versuchen Sie es in {seconds} Sekunden wieder.',
  loginEnded: 'Ihre Sitzung ist zu Ende. Melden Sie sich wieder an.',

  playground: 'Ausprobieren',

  placeDevice: 'auf diesem Gerät',
  placePremises: 'in Ihrem Haus',
  placeRegion: 'in Ihrer Region',
  placeCloud: 'in der Cloud',

  startTitle: 'Fragen Sie etwas und sehen Sie, wo die Antwort entsteht',
  startText: 'Tandem antwortet auf diesem Gerät, wo es kann, und sagt zu jeder Antwort, woher sie kam und warum.',
  ladder: 'Wohin eine Frage gehen kann',
  ladderFirst: 'Eine Frage beginnt oben und geht nur weiter, wenn sie muss.',
  tierUp: 'bereit',
  tierNoKey: 'noch kein Schlüssel',
  tierDown: 'nicht verfügbar ({code})',

  cardCloud: 'Cloud verbinden',
  cardCloudText: 'Schwere Fragen gehen dann an ein großes Modell. Private Daten bleiben trotzdem hier. Starten Sie Tandem mit einem Schlüssel:',
  cardCloudMore: 'Jeder OpenAI-kompatible Server geht: Setzen Sie auch OPENAI_BASE_URL.',
  cardModel: 'Größeres Modell holen',
  cardModelText: 'Das mitgelieferte Modell ist winzig. Hier sind {memory} Speicher frei, das reicht für dieses ({size}):',
  cardModelMore: 'Danach: tandem serve -m {name}',
  cardTry: 'Fünf zum Ausprobieren',
  cardTryText: 'Jede geht einen anderen Weg. Sehen Sie, was unter der Antwort steht.',
  tryHeading: 'Probieren Sie eine davon',
  tryIntent: 'Classify the intent: please move 100 dollars to my savings',
  trySum: 'What is 17.5 % of 240?',
  tryCase: 'Write in upper case: guten morgen, tandem',
  tryPrivate: 'Meine Kartennummer ist 4111 1111 1111 1111. Von welchem Anbieter ist sie?',
  tryHard: 'Warum begann die Französische Revolution?',

  askHere: 'Stellen Sie eine Frage',
  send: 'Senden',
  stop: 'Anhalten',
  sendHint: 'Enter sendet, Umschalt und Enter beginnt eine neue Zeile',
  you: 'Sie',
  answerOf: 'Antwort',
  waiting: 'Wartet auf das erste Wort',
  edit: 'Ändern',
  editSave: 'Neu fragen',
  cancel: 'Abbrechen',
  regenerate: 'Noch einmal antworten',
  newChat: 'Neues Gespräch',
  stopped: 'Angehalten',
  failed: 'Es gibt keine Antwort: {why}',

  confidence: 'Sicherheit',
  confidenceNone: 'nicht beurteilt',
  firstToken: 'Erster Text',
  speed: 'Tempo',
  tokensPerSecond: '{count} Token/s',
  cost: 'Kosten',
  cloudCost: 'In der Cloud',
  saved: 'gespart',
  dataClass: 'Daten',
  left: 'Gerät verlassen',
  leftNothing: 'nichts',
  cached: 'noch einmal aus dem Speicher',
  whyHere: 'Warum hier?',
  exchange: 'Vorgang',

  provisional: 'Vorläufig: {tier} prüft noch',
  committed: 'Geprüft von {tier}',
  corrected: 'Berichtigt von {tier}',
  notChecked: 'Niemand hat es rechtzeitig geprüft',
  showBefore: 'Zeigen, was vorher da stand',
  hideBefore: 'Verbergen, was vorher da stand',

  classPublic: 'öffentlich',
  classSensitive: 'sensibel',
  classContractual: 'vertraglich geschützt',
  classRestricted: 'streng vertraulich',

  controls: 'Wie gefragt wird',
  controlsOpen: 'Einstellungen',
  model: 'Modell',
  modelHint: 'auto lässt Tandem wählen',
  mode: 'Modus',
  modeAuto: 'Tandem wählt',
  modeOnlyLocal: 'Nur auf diesem Gerät',
  modePreferLocal: 'Lieber auf diesem Gerät',
  modePreferCloud: 'Lieber in der Cloud',
  modeOnlyCloud: 'Nur in der Cloud',
  classAtLeast: 'Datenklasse, mindestens',
  classHint: 'Streng Vertrauliches verlässt das Gerät nie',
  classFound: 'Wie im Text gefunden',
  deadline: 'Antwort fällig in',
  deadlineNone: 'Keine Frist',
  deadlineSeconds: '{seconds} s',
  systemPrompt: 'Systemprompt',
  systemHint: 'Steht vor dem Gespräch',
  systemPlaceholder: 'Du antwortest in einem Satz.',

  attach: 'Datei hinzufügen',
  files: 'Dateien',
  fileRemove: '{name} entfernen',
  fileTooLarge: '{name} ist zu groß: Texte dürfen 1 MB haben, Bilder 20 MB.',
  fileNoText: '{name} ist kein Text in UTF-8. Nur Texte und Bilder gehen.',
  fileNoImages: '{name} ist ein Bild, und keine Stufe, die bereit ist, sieht Bilder. Dafür braucht es eine Cloud oder ein Modell, das sieht.',
  fileBroken: '{name} lässt sich nicht als Bild lesen.',

  code: 'Code',
  codeTitle: 'Aus einem Programm fragen',
  codeText: 'Die letzte Frage, oder eine für den Anfang, und wie sie gestellt wird. Jede OpenAI-Bibliothek geht.',
  codeTextKey: 'Die letzte Frage, oder eine für den Anfang, und wie sie gestellt wird. Der Schlüssel gehört in TANDEM_API_KEY.',

  weights: 'Was zählt',
  weightLatency: 'Tempo',
  weightPrivacy: 'Datenschutz',
  weightCost: 'Kosten',
  weightsHint: 'Den Punkt ziehen. Von den Stufen, die antworten dürfen, beginnt die danach günstigste.',
  weightsNone: 'Wie der Server es hat',

  // --- Live ---

  // --- Explain ---

  // --- Review ---

  // --- Privacy ---

  // --- Keys and report ---

  // --- Models ---

  // --- What if ---
}
