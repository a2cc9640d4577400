/** Something that went wrong and whose message is meant for people; any other error is a mistake of this page. */
export class Told extends Error {}
