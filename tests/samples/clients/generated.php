<?php

// Loads every class of a client that openapi-generator has written, and creates a contact twice with one idempotency key. Prints the IDs of
// both responses. Usage: php generated.php FOLDER

declare(strict_types=1);

require_once 'GuzzleHttp/autoload.php';

// The client is installed without a package manager, so nothing else finds its classes.
const CLIENT = 'OpenAPI\\Client\\';
$folder = $argv[1];
spl_autoload_register(function (string $class) use ($folder): void {
    $file = $folder . '/' . str_replace('\\', '/', substr($class, strlen(CLIENT))) . '.php';
    if (str_starts_with($class, CLIENT) && is_file($file)) {
        require_once $file;
    }
});
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS)) as $file) {
    require_once $file->getPathname();
}

$config = OpenAPI\Client\Configuration::getDefaultConfiguration();
$config->setHost(getenv('MAILMILL_URL'))->setAccessToken(getenv('MAILMILL_KEY'));
$contacts = new OpenAPI\Client\Api\ContactsApi(new GuzzleHttp\Client(), $config);
$ada = new OpenAPI\Client\Model\ContactsCreateRequest([
    'project_id' => getenv('PROJECT'),
    'email' => 'ada@example.com',
    'first_name' => 'Ada',
]);
$ids = [];
for ($time = 0; $time < 2; $time++) {
    $ids[] = $contacts->contactsCreate($ada, 'generated-ada')->getData()->getId();
}
echo json_encode($ids), "\n";
