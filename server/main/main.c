#include "server/main/process.h"

int main(int argc, char **argv)
{
    return process_run(argc, argv);
}
